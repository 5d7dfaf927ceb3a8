#include "http/head.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <string>

namespace w8y::http {

namespace {

bool is_same_word(std::string_view one, std::string_view other) {
  return one.size() == other.size() && strncasecmp(one.data(), other.data(), one.size()) == 0;
}

/// Returns whether the character may be part of a token (RFC 9110, 5.6.2).
bool is_token_character(char character) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || marks.find(character) != std::string_view::npos;
}

/// Returns the IP address of the client; empty if it has none.
std::string client_address(MHD_Connection* mhd) {
  const auto* info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const sockaddr* address = info != nullptr ? info->client_addr : nullptr;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address != nullptr && address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text.data(),
              text.size());
  if (address != nullptr && address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text.data(),
              text.size());
  return text.data();
}

}  // namespace

void HeadCheck::add(std::string_view name, std::string_view value) {
  if (!std::all_of(name.begin(), name.end(), is_token_character)) bad_name_ = true;
  if (is_same_word(name, "Host")) ++hosts_;
  if (is_same_word(name, "Content-Length")) ++lengths_;
  if (!is_same_word(name, "Transfer-Encoding")) return;
  ++encodings_;
  if (!is_same_word(value, "chunked")) bad_encoding_ = true;
}

const char* HeadCheck::problem() const {
  if (bad_name_) return "a header field name has a space or another character that is not allowed";
  if (lengths_ > 1) return "there is more than one Content-Length header";
  if (lengths_ > 0 && encodings_ > 0)
    return "there is a Content-Length header together with a Transfer-Encoding header; send one";
  if (encodings_ > 1 || bad_encoding_)
    return "Transfer-Encoding must be chunked, and given only once";
  return nullptr;
}

const char* read_fields(MHD_Connection* mhd, HttpRequest& request) {
  HeadCheck check;
  const auto add = [](void* to, MHD_ValueKind, const char* name, std::size_t name_size,
                      const char* value, std::size_t value_size) {
    static_cast<HeadCheck*>(to)->add({name, name_size}, {value, value_size});
    return MHD_YES;
  };
  MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, add, &check);
  if (const char* problem = check.problem()) return problem;
  const auto field = [mhd](const char* name) {
    const char* value = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
    return std::string(value != nullptr ? value : "");
  };
  request.client = client_address(mhd);
  request.hosts = check.hosts();
  request.host = field("Host");
  request.origin = field("Origin");
  request.authorization = field("Authorization");
  request.content_type = field("Content-Type");
  request.accept_encoding = field("Accept-Encoding");
  request.last_event_id = field("Last-Event-ID");
  const std::string length = field("Content-Length");
  request.has_body = !field("Transfer-Encoding").empty() || (!length.empty() && length != "0");
  return nullptr;
}

}  // namespace w8y::http
