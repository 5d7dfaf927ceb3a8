#include "core/status_address.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "core/ascii.hpp"

namespace w8y {

namespace {

constexpr std::string_view unix_scheme = "unix:";
constexpr std::size_t max_path = sizeof(sockaddr_un{}.sun_path) - 1;
constexpr const char* any_form = R"(must be "unix:/path", "127.0.0.1:9158" or "[::1]:9158")";

bool is_ip(int family, const std::string& text) {
  in6_addr address{};
  return text.find('\0') == std::string::npos && inet_pton(family, text.c_str(), &address) == 1;
}

std::string parse_unix(std::string_view path, StatusAddress& into) {
  if (!path.starts_with('/')) return R"(must be "unix:" and an absolute path)";
  if (path.size() > max_path)
    return "has a path of " + std::to_string(path.size()) + " bytes; must be at most " +
           std::to_string(max_path);
  into.path = path;
  return {};
}

std::string parse_tcp(std::string_view text, StatusAddress& into) {
  const auto colon = text.rfind(':');
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), into.port);
  const bool is_number =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), core::is_digit);
  if (!is_number) return any_form;
  std::string ip(text.substr(0, colon));
  if (ip.empty())
    return "must have an IP address: \"127.0.0.1:" + std::string(digits) +
           "\" for clients on this host, \"0.0.0.0:" + std::string(digits) + "\" for all clients";
  if (error != std::errc() || into.port == 0 || digits.front() == '0')
    return "must have a port from 1 to 65535";
  if (is_ip(AF_INET6, ip))
    return "must have its IPv6 address in brackets: \"[" + ip + "]:" + std::string(digits) + '"';
  into.ipv6 = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
  if (into.ipv6) ip = ip.substr(1, ip.size() - 2);
  if (!is_ip(into.ipv6 ? AF_INET6 : AF_INET, ip))
    return R"(must have an IP address of this host, not a name, such as "127.0.0.1:9158")";
  into.ip = std::move(ip);
  return {};
}

}  // namespace

bool is_ip_address(const std::string& text) {
  return is_ip(AF_INET, text) || is_ip(AF_INET6, text);
}

std::string parse_status_address(std::string_view text, StatusAddress& into) {
  into = {};
  into.text = text;
  if (text.starts_with(unix_scheme)) return parse_unix(text.substr(unix_scheme.size()), into);
  if (text.find("//") != std::string_view::npos || text.starts_with("tcp:"))
    return R"(must be only an IP address and a port, such as "127.0.0.1:9158"; )"
           R"(for TLS, use a reverse proxy)";
  if (text.find(':') == std::string_view::npos) return any_form;
  return parse_tcp(text, into);
}

}  // namespace w8y
