#include "app/ctl/site.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <w8y/config.hpp>
#include <w8y/escape.hpp>

#include "app/config_loading.hpp"
#include "app/ctl/failure.hpp"
#include "app/tls_environment.hpp"
#include "redis/slots.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

constexpr std::string_view unix_scheme = "unix:";
/// Where a root's w8yd listens, and one that systemd starts.
constexpr const char* system_socket = "/run/w8y/w8yd.sock";
/// For what is only asked to know better.
constexpr Duration short_patience = std::chrono::seconds(2);

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

std::string first_socket(const std::vector<std::string>& addresses) {
  for (const auto& address : addresses)
    if (address.starts_with(unix_scheme)) return address.substr(unix_scheme.size());
  return {};
}

redis::ClientOptions options_of(const std::string& url, const char* from) {
  try {
    RedisSettings settings;
    settings.url = url;
    redis::ClientOptions options = client_options(settings, "w8yctl");
    options.tls = tls_environment();
    return options;
  } catch (const redis::UrlError& error) {
    throw Failure(wrong_usage, std::string(from) + ": " + error.what());
  }
}

std::string text_of(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> lines_of(const Json& json) {
  std::vector<std::string> lines;
  if (const auto found = json.find("lines"); found != json.end() && found->is_array())
    for (const auto& line : *found)
      if (line.is_string()) lines.push_back(escape(line.get<std::string>()));
  return lines;
}

/// Why nobody answers. What libcurl says of a unix socket speaks of hosts and ports.
std::string silence(const ops::HttpResult& result, const std::string& socket) {
  if (access(socket.c_str(), R_OK | W_OK) != 0) return std::strerror(errno);
  const auto last = result.problem.rfind(": ");
  return last == std::string::npos ? result.problem : result.problem.substr(last + 2);
}

/// The answer to a request that was carried out; all else is a Failure.
Json answer_of(const ops::HttpResult& result, const std::string& socket) {
  if (result.status == 0 || !result.problem.empty())
    throw Failure(not_reachable,
                  "no w8yd answers at " + escape_text(socket) + ": " + silence(result, socket));
  auto json = ops::parse(result.body);
  if (!json || !json->is_object())
    throw Failure(not_reachable, "what answers at " + escape_text(socket) + " is no w8yd");
  if (result.status < 300) return std::move(*json);
  const std::string why = text_of(*json, "error");
  throw Failure(result.status == 503 ? not_reachable : refused,
                why.empty() ? "HTTP status " + std::to_string(result.status) : escape(why),
                lines_of(*json));
}

}  // namespace

// ---- the config

const Config* Site::config() {
  if (!std::exchange(config_looked_for_, true)) {
    const bool named = !options_.config.empty();
    if (!named && (!options_.socket.empty() || !options_.redis_url.empty())) return nullptr;
    const std::string path = named ? options_.config : default_config_path;
    if (!named && access(path.c_str(), R_OK) != 0) return nullptr;
    try {
      config_ = load(path);
    } catch (const ConfigError& error) {
      if (!named) {
        complain(path + " has mistakes (see w8yd --check) and is not used");
        return nullptr;
      }
      std::vector<std::string> mistakes;
      for (const auto& mistake : error.mistakes()) mistakes.push_back(mistake.to_string());
      const std::string first = mistakes.front();
      mistakes.erase(mistakes.begin());
      throw Failure(wrong_usage, first, std::move(mistakes));
    }
  }
  return config_ ? &*config_ : nullptr;
}

// ---- the w8yd of this host

std::string Site::find_socket() {
  if (!options_.socket.empty()) return options_.socket;
  const Config* config = this->config();
  const std::string usual = first_socket({default_status(system_config_host())});
  std::string socket = config == nullptr ? usual : first_socket(config->supervisor.status);
  if (socket.empty())
    throw Failure(not_reachable, "the config names no unix socket under [supervisor] status");
  // What is usual for the operator's account may not be for the account that w8yd has.
  if (socket == usual && !exists(socket) && exists(system_socket)) return system_socket;
  return socket;
}

ops::HttpClient& Site::host() {
  if (!host_) {
    socket_ = find_socket();
    host_ = std::make_unique<ops::HttpClient>(socket_);
  }
  return *host_;
}

Json Site::ask(const std::string& path) {
  const ops::HttpResult result = host().get(path);
  return answer_of(result, socket_);
}

Json Site::order(const std::string& path, const Json& body) {
  const ops::HttpResult result = host().post(path, ops::dump(body));
  return answer_of(result, socket_);
}

std::optional<Json> Site::try_ask(const std::string& path) {
  try {
    const ops::HttpResult result = host().get(path, short_patience);
    return answer_of(result, socket_);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

// ---- Redis

/// A w8yd with an embedded Redis takes no notice of its config's URL.
std::optional<std::string> Site::embedded_redis(const redis::Url& configured) {
  const auto status = try_ask("/api/v1/status");
  if (!status || !status->contains("redis")) return std::nullopt;
  std::string url = text_of((*status)["redis"], "url");
  if (!url.starts_with("unix:") || url == configured.to_string()) return std::nullopt;
  return url;
}

redis::ClientOptions Site::find_redis() {
  if (!options_.redis_url.empty()) return options_of(options_.redis_url, "--redis-url");
  const char* variable = std::getenv("W8Y_REDIS_URL");
  const bool told = !options_.socket.empty() || !options_.config.empty();
  if (!told && variable != nullptr && *variable != '\0')
    return options_of(variable, "$W8Y_REDIS_URL");
  if (const Config* config = this->config()) {
    redis::ClientOptions configured = client_options(config->redis, "w8yctl");
    const auto embedded = embedded_redis(configured.url);
    return embedded ? options_of(*embedded, "the URL that w8yd gave") : configured;
  }
  const Json status = ask("/api/v1/status");
  const std::string url = status.contains("redis") ? text_of(status["redis"], "url") : "";
  if (url.empty()) throw Failure(not_reachable, "w8yd doesn't say where its Redis is");
  return options_of(url, "the URL that w8yd gave");
}

redis::ClientOptions Site::redis_options() {
  if (!redis_options_) redis_options_ = find_redis();
  return *redis_options_;
}

redis::SyncClient& Site::redis() {
  if (!redis_) redis_ = std::make_unique<redis::SyncClient>(loop_, redis_options());
  return *redis_;
}

// ---- lists

std::optional<std::map<std::string, std::string>> Site::find_lists() {
  std::map<std::string, std::string> lists;
  if (const Config* config = this->config()) {
    for (const auto& [prefix, rule] : config->lists) lists[prefix] = rule->lock_key;
    return lists;
  }
  if (options_.socket.empty() && !options_.redis_url.empty()) return std::nullopt;
  const auto text = try_ask("/api/v1/config");
  if (!text || !text->contains("lists")) return std::nullopt;
  for (const auto& list : (*text)["lists"])
    if (const auto prefix = ops::get_bytes(list, "prefix"))
      lists[*prefix] = text_of(list.value("settings", Json::object()), "lock_key");
  return lists;
}

const std::optional<std::map<std::string, std::string>>& Site::lists() {
  if (!std::exchange(lists_looked_for_, true)) lists_ = find_lists();
  return lists_;
}

std::vector<std::string> Site::chosen_lists() {
  if (options_.prefix) {
    must_exist(*options_.prefix);
    return {*options_.prefix};
  }
  if (!lists()) throw Failure(wrong_usage, "no config says which lists there are: name one");
  std::vector<std::string> prefixes;
  for (const auto& [prefix, lock_key] : *lists()) prefixes.push_back(prefix);
  return prefixes;
}

source::CircularKeys Site::keys(const std::string& prefix) {
  if (redis_options().url.kind == redis::Url::Kind::cluster && !redis::has_hash_tag(prefix))
    throw Failure(wrong_usage, "the list " + escape_text(prefix) +
                                   " has no hash tag, and in a cluster all keys of a list must "
                                   "share a slot; such as '{work}'");
  std::string lock_key = options_.lock_key;
  if (lock_key.empty() && lists())
    if (const auto found = lists()->find(prefix); found != lists()->end()) lock_key = found->second;
  if (lock_key.empty()) lock_key = "lock";
  return source::CircularKeys(prefix.empty() ? "" : prefix + ":", lock_key);
}

void Site::must_exist(const std::string& prefix) {
  if (!lists() || lists()->contains(prefix)) return;
  const source::CircularKeys keys = this->keys(prefix);
  if (redis().call({"EXISTS", keys.list, keys.runs, keys.paused}).number > 0) return;
  throw Failure(refused, "no list " + escape_text(prefix) + ": neither in the config nor in Redis");
}

}  // namespace w8y::app::ctl
