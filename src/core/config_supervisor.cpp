// The keys of [redis] and [supervisor].
#include <sys/un.h>

#include <algorithm>

#include "core/config_keys.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

/// A call that may take no time at all would always fail.
constexpr Duration shortest_timeout = 1ms;

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// The URL itself is never shown: it may hold a password.
void read_url(Value value, RedisSettings& redis) {
  value.keep_secret();
  std::string url;
  if (!value.text(url, "a Redis URL, such as \"redis://localhost:6379\"")) return;
  if (url.starts_with("rediss://")) {
    return value.wrong(
        "asks for TLS, which this version does not have yet; must be redis:// or unix://");
  }
  if (starts_with_any(url, {"redis+sentinel://", "rediss+sentinel://"})) {
    return value.wrong(
        "asks for Sentinel, which this version does not have yet; must be redis:// or unix://");
  }
  if (starts_with_any(url, {"redis+cluster://", "rediss+cluster://"})) {
    return value.wrong(
        "asks for a cluster, which this version does not have yet; must be redis:// or unix://");
  }
  if (!starts_with_any(url, {"redis://", "unix://"})) {
    return value.wrong(
        "is not a Redis URL; must be redis://[user[:password]@]host[:port][/db] or "
        "unix:///path.sock[?db=N]");
  }
  if (const std::string problem = value.reading().host.url_problem(url); !problem.empty()) {
    return value.wrong(problem);
  }
  redis.url = url;
}

/// It is a part of a lock's value, `run:<host>:<pid>:<run id>`, which people and scripts take
/// apart.
bool is_host_name(const std::string& name) {
  return !name.empty() && name.size() <= 255 && std::all_of(name.begin(), name.end(), [](char c) {
    return c != ':' && static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
}

void read_host(const Value& value, SupervisorSettings& supervisor) {
  std::string host;
  if (!value.text(host, "a name for this host")) return;
  if (!is_host_name(host)) {
    return value.must_be(
        "a name of 255 bytes at most, without colon, space and control characters");
  }
  supervisor.host = host;
}

/// "127.0.0.1:9158", "[::1]:9158", ":9158", "tcp://…"
bool is_tcp_address(const std::string& text) {
  if (text.starts_with("tcp:") || text.starts_with("http:") || text.starts_with("https:")) {
    return true;
  }
  const auto colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

void read_status(const Value& value, SupervisorSettings& supervisor) {
  std::vector<std::string> addresses;
  if (!value.texts(addresses, "addresses", false)) return;
  constexpr std::size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  bool right = true;
  for (const Node& item : value.node().items) {
    const Value address = value.member(item);
    const std::size_t before = value.reading().mistakes.size();
    if (!item.text.starts_with("unix:")) {
      if (is_tcp_address(item.text)) {
        address.wrong("is " + address.found() +
                      ": a TCP address, which this version does not have yet; must be "
                      "\"unix:/path\"");
      } else {
        address.must_be("\"unix:/path\"");
      }
    } else if (item.text.substr(5, 1) != "/") {
      address.must_be("\"unix:\" and an absolute path");
    } else if (item.text.size() - 5 > longest) {
      address.wrong("has a path of " + std::to_string(item.text.size() - 5) +
                    " bytes; must be at most " + std::to_string(longest));
    }
    right = right && value.reading().mistakes.size() == before;
  }
  if (right) supervisor.status = addresses;
}

constexpr Key<RedisSettings> redis_rows[] = {
    {"url", R"("redis://localhost:6379")", [](auto& v, auto& redis) { read_url(v, redis); }},
    {"password_file", "", [](auto& v, auto& redis) { v.trusted_path(redis.password_file); }},
    {"connect_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.connect_timeout, shortest_timeout); }},
    {"command_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.command_timeout, shortest_timeout); }},
    {"idle_commands", "100",
     [](auto& v, auto& redis) { v.integer(redis.idle_commands, 1, 1'000'000); }},
};

constexpr const char* no_tls = "is about TLS, which this version does not have yet; leave it out";
constexpr Refused redis_refused_rows[] = {
    {"sentinel_password_file",
     "is about Sentinel, which this version does not have yet; leave it out"},
    {"tls_ca", no_tls},
    {"tls_cert", no_tls},
    {"tls_key", no_tls},
    {"tls_server_name", no_tls},
};

constexpr Key<SupervisorSettings> supervisor_rows[] = {
    {"host", "", [](auto& v, auto& supervisor) { read_host(v, supervisor); }},
    {"fleet", R"("w8y-fleet")",
     [](auto& v, auto& supervisor) { v.text(supervisor.fleet, "a prefix for the fleet's keys"); }},
    {"status", R"(["unix:/run/w8y/w8yd.sock"])",
     [](auto& v, auto& supervisor) { read_status(v, supervisor); }},
    {"log_level", R"("info")",
     [](auto& v, auto& supervisor) {
       v.template choice<LogLevel>(supervisor.log_level, {{"trace", LogLevel::trace},
                                                          {"debug", LogLevel::debug},
                                                          {"info", LogLevel::info},
                                                          {"warn", LogLevel::warn},
                                                          {"error", LogLevel::error}});
     }},
    {"log_format", R"("text")",
     [](auto& v, auto& supervisor) {
       v.template choice<LogFormat>(
           supervisor.log_format,
           {{"text", LogFormat::text}, {"logfmt", LogFormat::logfmt}, {"json", LogFormat::json}});
     }},
    {"log_file", "", [](auto& v, auto& supervisor) { v.path(supervisor.log_file); }},
    {"drain_timeout", R"("30s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.drain_timeout); }},
    {"probe_timeout", R"("5s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_timeout, shortest_timeout); }},
    {"probe_interval", R"("60s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_interval); }},
    {"max_processes", "0",
     [](auto& v, auto& supervisor) { v.integer(supervisor.max_processes, 0, 1'000'000); }},
};

constexpr Refused supervisor_refused_rows[] = {
    {"status_token_file",
     "is about a TCP status address, which this version does not have yet; leave it out"},
};

}  // namespace

const std::span<const Key<RedisSettings>> redis_keys = redis_rows;
const std::span<const Refused> redis_refused = redis_refused_rows;
const std::span<const Key<SupervisorSettings>> supervisor_keys = supervisor_rows;
const std::span<const Refused> supervisor_refused = supervisor_refused_rows;

}  // namespace w8y::core
