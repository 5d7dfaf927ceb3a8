// The keys of [redis] and [supervisor].
#include <sys/un.h>

#include <algorithm>

#include "core/config_keys.hpp"
#include "core/setting_text.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

/// A call that may take no time at all would always fail.
constexpr Duration shortest_timeout = 1ms;

std::string scheme_of(std::string_view url) {
  std::string scheme(url.substr(0, std::min(url.find("://"), url.size())));
  for (char& c : scheme)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return scheme;
}

constexpr std::string_view schemes[] = {"redis",          "rediss",          "unix",
                                        "redis+sentinel", "rediss+sentinel", "redis+cluster",
                                        "rediss+cluster"};

/// The URL itself is never shown: it may hold a password.
void read_url(ConfigValue value, RedisSettings& redis) {
  value.keep_secret();
  std::string url;
  if (!value.text(url, "a Redis URL, such as \"redis://localhost:6379\"")) return;
  const bool known =
      std::find(std::begin(schemes), std::end(schemes), scheme_of(url)) != std::end(schemes);
  if (!known || url.find("://") == std::string::npos) {
    return value.wrong(
        "is not a Redis URL; must be redis://[user[:password]@]host[:port][/db] (rediss:// with "
        "TLS), unix:///path.sock[?db=N], redis+sentinel://host[:port][,…]/service[/db] or "
        "redis+cluster://host[:port][,…]");
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

void read_host(const ConfigValue& value, SupervisorSettings& supervisor) {
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

void read_status(const ConfigValue& value, SupervisorSettings& supervisor) {
  std::vector<std::string> addresses;
  if (!value.texts(addresses, "addresses", false)) return;
  constexpr std::size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  bool right = true;
  for (const Node& item : value.node().items) {
    const ConfigValue address = value.member(item);
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

constexpr Choice<LogLevel> log_levels[] = {{"trace", LogLevel::trace},
                                           {"debug", LogLevel::debug},
                                           {"info", LogLevel::info},
                                           {"warn", LogLevel::warn},
                                           {"error", LogLevel::error}};
constexpr Choice<LogFormat> log_formats[] = {
    {"text", LogFormat::text}, {"logfmt", LogFormat::logfmt}, {"json", LogFormat::json}};

constexpr Key<RedisSettings> redis_rows[] = {
    {"url", R"("redis://localhost:6379")", [](auto& v, auto& redis) { read_url(v, redis); },
     [](auto& redis) { return url_text(redis.url.view()); }},
    {"password_file", "", [](auto& v, auto& redis) { v.trusted_path(redis.password_file); },
     [](auto& redis) { return as_text(redis.password_file); }},
    {"sentinel_password_file", "",
     [](auto& v, auto& redis) { v.trusted_path(redis.sentinel_password_file); },
     [](auto& redis) { return as_text(redis.sentinel_password_file); }},
    {"tls_ca", "", [](auto& v, auto& redis) { v.trusted_path(redis.tls_ca); },
     [](auto& redis) { return as_text(redis.tls_ca); }},
    {"tls_cert", "", [](auto& v, auto& redis) { v.trusted_path(redis.tls_cert); },
     [](auto& redis) { return as_text(redis.tls_cert); }},
    {"tls_key", "", [](auto& v, auto& redis) { v.trusted_path(redis.tls_key); },
     [](auto& redis) { return as_text(redis.tls_key); }},
    {"tls_server_name", "",
     [](auto& v, auto& redis) { v.text(redis.tls_server_name, "the name to check"); },
     [](auto& redis) { return as_text(redis.tls_server_name); }},
    {"connect_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.connect_timeout, shortest_timeout); },
     [](auto& redis) { return as_text(redis.connect_timeout); }},
    {"command_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.command_timeout, shortest_timeout); },
     [](auto& redis) { return as_text(redis.command_timeout); }},
    {"idle_commands", "100",
     [](auto& v, auto& redis) { v.integer(redis.idle_commands, 1, 1'000'000); },
     [](auto& redis) { return as_text(redis.idle_commands); }},
};

constexpr Key<SupervisorSettings> supervisor_rows[] = {
    {"host", "", [](auto& v, auto& supervisor) { read_host(v, supervisor); },
     [](auto& supervisor) { return as_text(supervisor.host); }},
    {"fleet", R"("w8y-fleet")",
     [](auto& v, auto& supervisor) { v.text(supervisor.fleet, "a prefix for the fleet's keys"); },
     [](auto& supervisor) { return as_text(supervisor.fleet); }},
    {"status", R"(["unix:/run/w8y/w8yd.sock"])",
     [](auto& v, auto& supervisor) { read_status(v, supervisor); },
     [](auto& supervisor) { return as_text(supervisor.status); }},
    {"log_level", R"("info")",
     [](auto& v, auto& supervisor) {
       v.template choice<LogLevel>(supervisor.log_level, log_levels);
     },
     [](auto& supervisor) { return name_of<LogLevel>(log_levels, supervisor.log_level); }},
    {"log_format", R"("text")",
     [](auto& v, auto& supervisor) {
       v.template choice<LogFormat>(supervisor.log_format, log_formats);
     },
     [](auto& supervisor) { return name_of<LogFormat>(log_formats, supervisor.log_format); }},
    {"log_file", "", [](auto& v, auto& supervisor) { v.path(supervisor.log_file); },
     [](auto& supervisor) { return as_text(supervisor.log_file); }},
    {"drain_timeout", R"("30s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.drain_timeout); },
     [](auto& supervisor) { return as_text(supervisor.drain_timeout); }},
    {"probe_timeout", R"("5s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_timeout, shortest_timeout); },
     [](auto& supervisor) { return as_text(supervisor.probe_timeout); }},
    {"probe_interval", R"("60s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_interval); },
     [](auto& supervisor) { return as_text(supervisor.probe_interval); }},
    {"max_processes", "0",
     [](auto& v, auto& supervisor) { v.integer(supervisor.max_processes, 0, 1'000'000); },
     [](auto& supervisor) { return as_text(supervisor.max_processes); }},
};

constexpr Refused supervisor_refused_rows[] = {
    {"status_token_file",
     "is about a TCP status address, which this version does not have yet; leave it out"},
};

}  // namespace

bool asks_for_cluster(std::string_view url) {
  return scheme_of(url).ends_with("+cluster");
}

bool has_hash_tag(std::string_view prefix) {
  const auto open = prefix.find('{');
  if (open == std::string_view::npos) return false;
  const auto close = prefix.find('}', open);
  return close != std::string_view::npos && close > open + 1;
}

void check_redis(const ConfigValue& section, const RedisSettings& redis) {
  if (section.node().kind != Node::Kind::table) return;
  const std::string scheme = scheme_of(redis.url.view());
  const bool tls = scheme.starts_with("rediss");
  const bool sentinel = scheme.ends_with("+sentinel");
  for (const Node& node : section.node().items) {
    const ConfigValue value = section.member(node);
    if (node.key.starts_with("tls_") && !tls) {
      value.wrong_key(
          "is about TLS, which the URL doesn't ask for; must stand with a rediss:// URL");
    } else if (node.key == "sentinel_password_file" && !sentinel) {
      value.wrong_key(
          "is about sentinels, which the URL doesn't name; must stand with a redis+sentinel:// "
          "URL");
    } else if (node.key == "tls_key" && tls && redis.tls_cert.empty()) {
      value.wrong_key("is a key without its certificate; must stand with tls_cert");
    }
  }
}

const std::span<const Key<RedisSettings>> redis_keys = redis_rows;
const std::span<const Key<SupervisorSettings>> supervisor_keys = supervisor_rows;
const std::span<const Refused> supervisor_refused = supervisor_refused_rows;

}  // namespace w8y::core
