// The keys of [redis] and [supervisor].
#include <algorithm>
#include <cctype>

#include "core/ascii.hpp"
#include "core/config_keys.hpp"
#include "core/setting_text.hpp"
#include "core/status_address.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

/// With a time limit of zero, every call would fail.
constexpr Duration min_timeout = 1ms;

std::string scheme_of(std::string_view url) {
  return lower(url.substr(0, std::min(url.find("://"), url.size())));
}

constexpr std::string_view schemes[] = {"redis",          "rediss",          "unix",
                                        "redis+sentinel", "rediss+sentinel", "redis+cluster",
                                        "rediss+cluster"};

/// Reads the URL. Errors never show it, because it may hold a password.
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
  if (url_text(url) != url) value.warn_if_exposed(value.file());
  redis.url = url;
}

/// The host name is part of a lock's value, `run:<host>:<pid>:<run id>`, which people and scripts
/// parse.
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

void read_status(const ConfigValue& value, SupervisorSettings& supervisor) {
  std::vector<std::string> addresses;
  if (!value.texts(addresses, "addresses", false)) return;
  bool right = true;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    StatusAddress parsed;
    const ConfigValue address = value.member(value.node().items[i]);
    std::string problem = parse_status_address(addresses[i], parsed);
    const auto here = addresses.begin() + static_cast<std::ptrdiff_t>(i);
    if (problem.empty() && std::find(addresses.begin(), here, addresses[i]) != here)
      problem = "is listed twice; must be listed once";
    if (problem.empty()) continue;
    right = false;
    address.wrong(problem.starts_with("must") ? "is " + address.found() + "; " + problem : problem);
  }
  if (right) supervisor.status = addresses;
}

/// Checks the file only if it can be read: `--check` may run as a user without access.
void read_token_file(const ConfigValue& value, SupervisorSettings& supervisor) {
  std::string path;
  if (!value.secret_path(path)) return;
  if (const std::string problem = value.reading().host.token_problem(path); !problem.empty())
    return value.wrong(quote_start(path) + " " + problem);
  supervisor.status_token_file = path;
}

bool is_dns_name(const std::string& name) {
  return name.size() <= 253 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
         });
}

void read_status_allowed_hosts(const ConfigValue& value, SupervisorSettings& supervisor) {
  std::vector<std::string> names;
  if (!value.texts(names, "names", false)) return;
  bool right = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_dns_name(names[i])) continue;
    right = false;
    value.member(value.node().items[i])
        .must_be("a host's name alone, without scheme and port, such as \"w8y.example.org\"");
  }
  if (right) supervisor.status_allowed_hosts = names;
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
    {"password_file", "", [](auto& v, auto& redis) { v.secret_path(redis.password_file); },
     [](auto& redis) { return as_text(redis.password_file); }},
    {"sentinel_password_file", "",
     [](auto& v, auto& redis) { v.secret_path(redis.sentinel_password_file); },
     [](auto& redis) { return as_text(redis.sentinel_password_file); }},
    {"tls_ca", "", [](auto& v, auto& redis) { v.trusted_path(redis.tls_ca); },
     [](auto& redis) { return as_text(redis.tls_ca); }},
    {"tls_cert", "", [](auto& v, auto& redis) { v.trusted_path(redis.tls_cert); },
     [](auto& redis) { return as_text(redis.tls_cert); }},
    {"tls_key", "", [](auto& v, auto& redis) { v.secret_path(redis.tls_key); },
     [](auto& redis) { return as_text(redis.tls_key); }},
    {"tls_server_name", "",
     [](auto& v, auto& redis) {
       v.text(redis.tls_server_name, "the name in the certificate of the server");
     },
     [](auto& redis) { return as_text(redis.tls_server_name); }},
    {"connect_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.connect_timeout, min_timeout); },
     [](auto& redis) { return as_text(redis.connect_timeout); }},
    {"command_timeout", R"("5s")",
     [](auto& v, auto& redis) { v.duration(redis.command_timeout, min_timeout); },
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
    {"status_token_file", "", [](auto& v, auto& supervisor) { read_token_file(v, supervisor); },
     [](auto& supervisor) { return as_text(supervisor.status_token_file); }},
    {"status_allowed_hosts", "[]",
     [](auto& v, auto& supervisor) { read_status_allowed_hosts(v, supervisor); },
     [](auto& supervisor) { return as_text(supervisor.status_allowed_hosts); }},
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
    {"log_file", "",
     [](auto& v, auto& supervisor) {
       v.trusted_path(supervisor.log_file, ConfigValue::IfMissing::refused_later);
     },
     [](auto& supervisor) { return as_text(supervisor.log_file); }},
    {"drain_timeout", R"("30s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.drain_timeout); },
     [](auto& supervisor) { return as_text(supervisor.drain_timeout); }},
    {"probe_timeout", R"("5s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_timeout, min_timeout); },
     [](auto& supervisor) { return as_text(supervisor.probe_timeout); }},
    {"probe_interval", R"("60s")",
     [](auto& v, auto& supervisor) { v.duration(supervisor.probe_interval); },
     [](auto& supervisor) { return as_text(supervisor.probe_interval); }},
    {"host_concurrency", "0",
     [](auto& v, auto& supervisor) { v.integer(supervisor.host_concurrency, 0, 1'000'000); },
     [](auto& supervisor) { return as_text(supervisor.host_concurrency); }},
};

}  // namespace

bool is_cluster_url(std::string_view url) {
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
      value.wrong_key("is for TLS, which the URL does not use; must be used with a rediss:// URL");
    } else if (node.key == "sentinel_password_file" && !sentinel) {
      value.wrong_key(
          "is for Sentinels, which the URL does not name; must be used with a redis+sentinel:// "
          "URL");
    } else if (node.key == "tls_key" && tls && redis.tls_cert.empty()) {
      value.wrong_key("is a key without its certificate; must be used with tls_cert");
    }
  }
}

const std::span<const Key<RedisSettings>> redis_keys = redis_rows;
const std::span<const Key<SupervisorSettings>> supervisor_keys = supervisor_rows;

}  // namespace w8y::core
