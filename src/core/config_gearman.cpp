#include "core/config_gearman.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/gearman_settings.hpp"
#include "core/setting_text.hpp"
#include "core/text.hpp"

namespace w8y {

std::string GearmanServer::to_string() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

namespace core {

namespace {

/// Limits of gearmand, in bytes.
constexpr std::size_t max_function = 512;
constexpr std::size_t max_host = 255;

std::optional<std::uint16_t> port_in(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool is_host(std::string_view name, bool in_brackets) {
  return !name.empty() && name.size() <= max_host &&
         std::all_of(name.begin(), name.end(), [in_brackets](char c) {
           const auto byte = static_cast<unsigned char>(c);
           if (c == ':') return in_brackets;
           return byte > 0x20 && byte != 0x7f && c != '/' && c != '@' && c != '[' && c != ']';
         });
}

/// Parses "host", "host:4730", "[::1]", "[::1]:4730".
std::optional<GearmanServer> server_in(std::string_view text) {
  const bool bracket = text.starts_with('[');
  const auto end = bracket ? text.find(']') : text.find(':');
  if (bracket && end == std::string_view::npos) return std::nullopt;
  GearmanServer server;
  server.host = text.substr(bracket ? 1 : 0, bracket ? end - 1 : end);
  if (!is_host(server.host, bracket)) return std::nullopt;
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(bracket ? end + 1 : end);
  if (rest.empty()) return server;
  if (rest.front() != ':') return std::nullopt;
  const auto port = port_in(rest.substr(1));
  if (!port) return std::nullopt;
  server.port = *port;
  return server;
}

void read_servers(const ConfigValue& value, GearmanServers& gearman) {
  std::vector<std::string> texts;
  if (!value.texts(texts, "servers", false)) return;
  std::vector<GearmanServer> servers;
  bool right = true;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ConfigValue member = value.member(value.node().items[i]);
    auto server = server_in(texts[i]);
    if (!server) {
      member.must_be("host, host:port, or [address]:port of IPv6, such as \"localhost:4730\"");
    } else if (std::find(servers.begin(), servers.end(), *server) != servers.end()) {
      member.wrong("is listed twice; must be listed once");
    } else {
      servers.push_back(std::move(*server));
      continue;
    }
    right = false;
  }
  if (right) gearman.servers = std::move(servers);
}

std::string show_servers(const GearmanServers& gearman) {
  std::vector<std::string> texts;
  for (const GearmanServer& server : gearman.servers) texts.push_back(server.to_string());
  return as_text(texts);
}

constexpr Key<GearmanServers> gearman_rows[] = {
    {"servers", "", read_servers, show_servers},
    {"connect_timeout", R"("5s")",
     [](auto& v, auto& gearman) {
       v.duration(gearman.connect_timeout, std::chrono::milliseconds(1));
     },
     [](auto& gearman) { return as_text(gearman.connect_timeout); }},
};

constexpr Refused gearman_reasons[] = {
    {"max_failures", "; Gearman has no quarantine: a job is not run again after a failure"},
    {"backoff", "; Gearman has no delays: a job is not run again after a failure"},
    {"breaker", "; Gearman has no quarantine that an outage could cause"},
    {"cooldown", "; Gearman has no delays: a job is run only once"},
    {"key_expiry", "; Gearman has no locks: the connection is the lease"},
    {"lock_key", "; Gearman has no locks: the connection is the lease"},
    {"fleet_concurrency", "; Gearman cannot limit the runs of all hosts together"},
    {"overdue_after", "; Gearman sends each job only once"},
};

}  // namespace

const std::span<const Key<GearmanServers>> gearman_keys = gearman_rows;

void read_function(const ConfigValue& value, std::string& function) {
  std::string name;
  if (!value.text(name, "the name of a function")) return;
  if (name.size() > max_function) return value.wrong("is too long; must have at most 512 bytes");
  function = std::move(name);
}

void check_function(const ConfigValue& list, const std::string& prefix, std::string& function) {
  if (!function.empty()) return;
  if (prefix.empty() || prefix.size() > max_function || prefix.find('\0') != std::string::npos) {
    list.wrong_key(
        "cannot be the name of a function of Gearman, which has 1 to 512 bytes and no NUL; set "
        "another name, such as function = \"resize\"");
  } else if (list.node().find("function") == nullptr) {
    function = prefix;
  }
}

std::string why_not_in_gearman(std::string_view key) {
  for (const Refused& row : gearman_reasons)
    if (row.name == key) return row.why;
  return {};
}

}  // namespace core

}  // namespace w8y
