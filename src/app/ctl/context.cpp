#include "app/ctl/context.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "app/config_loading.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"
#include "app/tls_environment.hpp"
#include "core/circular_settings.hpp"
#include "core/config.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/pattern.hpp"
#include "core/schedule_settings.hpp"
#include "core/units.hpp"
#include "operator/lists.hpp"
#include "redis/hash_slots.hpp"
#include "store/schedule/keys.hpp"
#include "view/host_view.hpp"

namespace w8y::app::ctl {

namespace {

using view::JsonFields;

constexpr std::string_view unix_scheme = "unix:";
/// Where a root's w8yd listens, and one that systemd starts.
constexpr const char* system_socket = "/run/w8y/w8yd.sock";
constexpr const char* no_redis =
    "there is no [redis] in the config, since all lists are of Gearman: runs have no history, "
    "lists "
    "no pauses, and hosts no fleet";

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

}  // namespace

Failure wrong_config(const ConfigError& error) {
  std::vector<std::string> mistakes;
  for (const auto& mistake : error.mistakes()) mistakes.push_back(mistake.to_string());
  const std::string first = mistakes.front();
  mistakes.erase(mistakes.begin());
  return {wrong_usage, first, std::move(mistakes)};
}

// ---- the config

const Config* Context::config() {
  if (!std::exchange(config_looked_for_, true)) {
    const bool named = !options_.config.empty();
    if (!named && (!options_.socket.empty() || !options_.redis_url.empty())) return nullptr;
    const std::string path = named ? options_.config : default_config_path;
    if (!named && access(path.c_str(), R_OK) != 0) return nullptr;
    try {
      config_ = load_without_programs(path);
    } catch (const ConfigError& error) {
      if (!named) {
        complain(path + " has mistakes (see w8yd --check) and is not used");
        return nullptr;
      }
      throw wrong_config(error);
    }
  }
  return config_ ? &*config_ : nullptr;
}

// ---- the w8yd of this host

std::string Context::find_socket() {
  if (!options_.socket.empty()) return options_.socket;
  const Config* config = this->config();
  const std::string usual = first_socket({default_status(system_config_host())});
  std::string socket = config == nullptr ? usual : first_socket(config->supervisor.status);
  if (socket.empty())
    throw Failure(not_reachable,
                  "the config names no unix socket under [supervisor] status; say with --socket "
                  "where w8yd listens");
  // What is usual for the operator's account may not be for the account that w8yd has.
  if (socket == usual && !exists(socket) && exists(system_socket)) return system_socket;
  return socket;
}

HostApi& Context::host() {
  if (!host_) host_ = std::make_unique<HostApi>(find_socket());
  return *host_;
}

std::optional<JsonFields> Context::try_ask(const std::string& path) {
  try {
    return host().try_ask(path);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

// ---- Redis

/// A w8yd with an embedded Redis takes no notice of its config's URL.
std::optional<std::string> Context::embedded_redis(const redis::Url& configured) {
  const auto status = try_ask("/api/v1/status?lists=no");
  if (!status) return std::nullopt;
  std::string url = view::read_host(*status).redis.url;
  if (!url.starts_with("unix:") || url == configured.to_string()) return std::nullopt;
  return url;
}

redis::ClientOptions Context::find_redis() {
  if (!options_.redis_url.empty()) return options_of(options_.redis_url, "--redis-url");
  const char* variable = std::getenv("W8Y_REDIS_URL");
  const bool told =
      (!options_.socket.empty() && !options_.socket_from_environment) || !options_.config.empty();
  if (!told && variable != nullptr && *variable != '\0')
    return options_of(variable, "$W8Y_REDIS_URL");
  if (const Config* config = this->config()) {
    redis::ClientOptions configured = client_options(config->redis, "w8yctl");
    const auto embedded = embedded_redis(configured.url);
    if (!embedded && !config->has_redis) throw Failure(not_reachable, no_redis);
    return embedded ? options_of(*embedded, "the URL that w8yd gave") : configured;
  }
  const HostStatus status = view::read_host(host().ask("/api/v1/status?lists=no"));
  if (!status.has_redis) throw Failure(not_reachable, no_redis);
  const std::string& url = status.redis.url;
  if (url.empty())
    throw Failure(not_reachable, "w8yd does not say where its Redis is; give --redis-url");
  return options_of(url, "the URL that w8yd gave");
}

redis::ClientOptions Context::redis_options() {
  if (!redis_options_) redis_options_ = find_redis();
  return *redis_options_;
}

std::string Context::fleet() {
  if (!options_.fleet.empty()) return options_.fleet;
  const Config* config = this->config();
  return config == nullptr ? SupervisorSettings{}.fleet : config->supervisor.fleet;
}

redis::SyncClient& Context::redis() {
  if (!redis_) redis_ = std::make_unique<redis::SyncClient>(loop_, redis_options());
  return *redis_;
}

// ---- lists

std::optional<KnownLists> Context::find_lists() {
  KnownLists lists;
  if (const Config* config = this->config()) {
    for (const auto& [prefix, rule] : config->lists) {
      KnownList& list = lists[prefix];
      list.kind = rule->kind();
      if (list.kind == SourceKind::circular) list.lock_key = rule->circular().lock_key;
      if (list.kind == SourceKind::schedule) list.queues = rule->schedule().queues;
      if (list.kind == SourceKind::job)
        list.maintenance = store::thoonk::maintenance_terms(*rule, {});
    }
    return lists;
  }
  if (options_.socket.empty() && !options_.redis_url.empty()) return std::nullopt;
  const auto text = try_ask("/api/v1/config");
  if (!text || !text->has("lists")) return std::nullopt;
  for (const JsonFields& list : text->objects("lists")) {
    const auto prefix = list.bytes("list");
    const auto settings = list.object("settings");
    if (prefix && settings) {
      KnownList& known = lists[*prefix];
      const std::string source = settings->text("source");
      known.lock_key = settings->text("lock_key");
      if (source == "schedule") known.kind = SourceKind::schedule;
      if (source == "gearman") known.kind = SourceKind::gearman;
      if (source != "job") continue;
      known.kind = SourceKind::job;
      const auto number = [&]<typename Number>(const char* key, Number& into) {
        into = static_cast<Number>(
            read_integer(settings->text(key), {0, range_of<Number>.max}).value_or(0));
      };
      number("max_failures", known.maintenance.max_failures);
      number("history", known.maintenance.history.runs);
      known.maintenance.history.bytes = parse_size(settings->text("history_bytes")).value_or(0);
      known.maintenance.claim_timeout =
          parse_duration(settings->text("claim_timeout")).value_or(Duration{0});
    }
  }
  return lists;
}

const std::optional<KnownLists>& Context::lists() {
  if (!std::exchange(lists_looked_for_, true)) lists_ = find_lists();
  return lists_;
}

bool Context::is_in_redis(const std::string& prefix) {
  const store::CircularKeys keys = this->keys(prefix);
  return redis().call({"EXISTS", keys.list, keys.runs, keys.paused}).number > 0 ||
         is_schedule_in_redis(prefix) || has_jobs_in_redis(prefix);
}

/// The same of feeds.
bool Context::has_jobs_in_redis(const std::string& prefix) {
  const store::FeedKeys keys(prefix);
  const auto told =
      redis().pipeline({{"HGET", keys.config, "type"}, {"EXISTS", keys.claimed, keys.published}});
  return told.front().text == "job" || (!told.back().is_error() && told.back().number > 0);
}

/// Who may not look at these keys has no schedule there.
bool Context::is_schedule_in_redis(const std::string& prefix) {
  const store::ScheduleKeys keys(prefix);
  const auto told =
      redis().pipeline({{"EXISTS", keys.schedules, keys.statuses, keys.timeline, keys.taken}});
  return !told.front().is_error() && told.front().number > 0;
}

std::vector<std::string> Context::lists_of(const std::string& name) {
  if (lists() && lists()->contains(name)) return {name};
  const bool pattern = core::is_pattern(name);
  if (!lists() && !pattern) return {name};
  std::vector<std::string> fitting;
  if (pattern && lists())
    for (const auto& [prefix, list] : *lists())
      if (core::fits(name, prefix)) fitting.push_back(prefix);
  if (!fitting.empty()) return fitting;
  if (is_in_redis(name)) return {name};
  if (!pattern)
    throw Failure(refused, "there is no list " + escape_text(name) +
                               ": it is neither in the config nor in Redis");
  if (lists()) throw Failure(refused, "no list of the config fits " + escape_text(name));
  throw Failure(wrong_usage,
                escape_text(name) +
                    " is a pattern, and it is not known which lists there are: name one, "
                    "or give --config or --socket");
}

std::vector<std::string> Context::lists_of(const std::optional<std::string>& name) {
  if (name) return lists_of(*name);
  if (!lists())
    throw Failure(wrong_usage,
                  "it is not known which lists there are: name one, or give --config or --socket");
  std::vector<std::string> prefixes;
  for (const auto& [prefix, list] : *lists()) prefixes.push_back(prefix);
  return prefixes;
}

store::CircularKeys Context::keys(const std::string& prefix) {
  if (redis_options().url.kind == redis::Url::Kind::cluster && !redis::has_hash_tag(prefix))
    throw Failure(wrong_usage, "the list " + escape_text(prefix) +
                                   " has no hash tag, and in a cluster all keys of a list must "
                                   "share a slot; such as '{work}'");
  std::string lock_key = options_.lock_key;
  if (lock_key.empty() && lists())
    if (const auto found = lists()->find(prefix); found != lists()->end())
      lock_key = found->second.lock_key;
  if (lock_key.empty()) lock_key = "lock";
  return store::CircularKeys(prefix.empty() ? "" : prefix + ":", lock_key);
}

SourceKind Context::kind_of(const std::string& prefix) {
  if (!lists()) return SourceKind::circular;
  const auto found = lists()->find(prefix);
  return found == lists()->end() ? SourceKind::circular : found->second.kind;
}

SourceKind Context::kind_found(const std::string& prefix) {
  if (lists() && lists()->contains(prefix)) return kind_of(prefix);
  if (redis().call({"EXISTS", keys(prefix).list}).number > 0) return SourceKind::circular;
  if (is_schedule_in_redis(prefix)) return SourceKind::schedule;
  return has_jobs_in_redis(prefix) ? SourceKind::job : SourceKind::circular;
}

void Context::refuse_gearman(const std::string& prefix) {
  if (kind_of(prefix) == SourceKind::gearman)
    throw Failure(refused, escape_text(prefix) + " " + verbs::jobs_are_gearmands);
}

store::CircularKeys Context::circular_keys(const std::string& prefix) {
  if (kind_of(prefix) == SourceKind::schedule)
    throw Failure(refused,
                  escape_text(prefix) +
                      " is a schedule, whose jobs are set and shown by: w8yctl schedule -k " +
                      escape_text(prefix));
  if (kind_of(prefix) == SourceKind::job)
    throw Failure(refused, escape_text(prefix) +
                               " is a feed of jobs, which are put and changed by: w8yctl job");
  refuse_gearman(prefix);
  return keys(prefix);
}

}  // namespace w8y::app::ctl
