#include "ctl/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "api/endpoints.hpp"
#include "config/loading.hpp"
#include "core/config.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/units.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "operator/fleet.hpp"
#include "operator/lists.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

constexpr std::string_view unix_scheme = "unix:";
/// Socket of a w8yd that root or systemd starts.
constexpr const char* system_socket = "/run/w8y/w8yd.sock";

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

std::string first_socket(const std::vector<std::string>& addresses) {
  for (const auto& address : addresses)
    if (address.starts_with(unix_scheme)) return address.substr(unix_scheme.size());
  return {};
}

verbs::Reach reach_of(const std::string& url, const char* from) {
  try {
    return config::client_options_of(url, "w8yctl");
  } catch (const std::invalid_argument& error) {
    throw Failure(wrong_usage, std::string(from) + ": " + error.what());
  }
}

std::vector<std::string> queues_in(std::string_view text) {
  std::vector<std::string> codes;
  while (!text.empty()) {
    const std::string_view code = text.substr(0, text.find(':'));
    if (!code.empty()) codes.emplace_back(code);
    text.remove_prefix(std::min(text.size(), code.size() + 1));
  }
  return codes;
}

/// Parses settings of a list as GET /api/v1/config returns them.
verbs::KnownList read_known(const JsonFields& settings) {
  verbs::KnownList list;
  const std::string source = settings.text("source");
  for (const KindTraits& kind : kind_rows)
    if (source == kind.name) list.kind = &kind;
  list.lock_key = settings.text("lock_key");
  if (list.kind->has_key_prefix) list.key_prefix = settings.text("key_prefix");
  list.queues = queues_in(settings.text("queues"));
  const std::string catch_up = settings.text("catch_up");
  list.catch_up = catch_up == "all"    ? CatchUp::all
                  : catch_up == "none" ? CatchUp::none
                                       : CatchUp::one;
  // Only lists with this key have maintenance.
  if (!settings.has("claim_timeout")) return list;
  const auto number = [&]<typename Number>(const char* key, Number& into) {
    into = static_cast<Number>(
        read_integer(settings.text(key), {0, range_of<Number>.max}).value_or(0));
  };
  number("max_failures", list.maintenance.max_failures);
  // Maintenance records only runs that failed.
  number("failed_history", list.maintenance.history.runs);
  const bool apart = list.maintenance.history.runs > 0;
  if (apart) {
    list.maintenance.history.age =
        parse_duration(settings.text("failed_for")).value_or(Duration{0});
  } else {
    number("history", list.maintenance.history.runs);
  }
  const char* const bytes = apart ? "failed_history_bytes" : "history_bytes";
  list.maintenance.history.bytes =
      static_cast<std::uint32_t>(parse_size(settings.text(bytes)).value_or(0));
  list.maintenance.claim_timeout =
      parse_duration(settings.text("claim_timeout")).value_or(Duration{0});
  return list;
}

}  // namespace

Failure wrong_config(const ConfigError& error) {
  std::vector<std::string> errors;
  for (const auto& mistake : error.errors()) errors.push_back(mistake.to_string());
  const std::string first = errors.front();
  errors.erase(errors.begin());
  return {wrong_usage, first, std::move(errors)};
}

// ---- the config

const Config* Context::config() {
  if (!std::exchange(config_looked_for_, true)) {
    const bool named = !options_.config.empty();
    if (!named && (!options_.socket.empty() || !options_.redis_url.empty())) return nullptr;
    const std::string path = named ? options_.config : config::default_config_path;
    if (!named && access(path.c_str(), R_OK) != 0) return nullptr;
    try {
      config_ = config::load_without_programs(path);
    } catch (const ConfigError& error) {
      if (!named) {
        complain(path + " has errors (see w8yd --check) and is not used");
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
                  "the config has no unix socket in [supervisor] status; use --socket PATH");
  // The default path of the operator's account may differ from that of the account of w8yd.
  if (socket == usual && !exists(socket) && exists(system_socket)) return system_socket;
  return socket;
}

HostApi& Context::host() {
  if (!host_) host_ = std::make_unique<HostApi>(find_socket());
  return *host_;
}

std::optional<JsonFields> Context::try_request(const http::Target& target) {
  try {
    return host().try_request(target);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::optional<JsonFields> Context::request_if_present(const http::Target& target,
                                                      const char* member) {
  try {
    return host().request(target, std::chrono::seconds(30), member);
  } catch (const Failure& failure) {
    if (failure.exit() == not_reachable) return std::nullopt;
    throw;
  }
}

void Context::add_here(verbs::RunMatches& matches) {
  const auto answer = try_request(api::endpoints::status.target());
  if (!answer) return;
  for (const JsonFields& each : answer->objects("lists"))
    if (const auto list = view::read_list_in_fleet(each, view::api))
      for (const RunStatus& run : list->list.runs)
        matches.add({list->list.prefix, run, {}, {}, answer->text("host"), {}});
}

// ---- Redis

/// Returns the URL of an embedded Redis, for which w8yd ignores the URL in its config.
std::optional<std::string> Context::embedded_redis(const std::string& configured) {
  const auto status = try_request(api::endpoints::status_of_host());
  if (!status) return std::nullopt;
  std::string url = view::read_host(*status).redis.url;
  if (!url.starts_with("unix:") || url == configured) return std::nullopt;
  return url;
}

bool Context::names_redis() const {
  if (!options_.redis_url.empty())
    return options_.socket.empty() || options_.socket_from_environment;
  const bool told =
      (!options_.socket.empty() && !options_.socket_from_environment) || !options_.config.empty();
  const char* variable = std::getenv("W8Y_REDIS_URL");
  return !told && variable != nullptr && *variable != '\0';
}

verbs::Reach Context::find_redis() {
  if (!options_.redis_url.empty()) return reach_of(options_.redis_url, "--redis-url");
  if (names_redis()) return reach_of(std::getenv("W8Y_REDIS_URL"), "$W8Y_REDIS_URL");
  if (const Config* config = this->config()) {
    verbs::Reach configured = config::client_options(config->redis, "w8yctl");
    const auto embedded = embedded_redis(configured.url.to_string());
    if (!embedded && !config->has_redis) throw Failure(not_reachable, verbs::no_redis);
    return embedded ? reach_of(*embedded, "the URL of Redis from w8yd") : configured;
  }
  const HostStatus status = view::read_host(host().request(api::endpoints::status_of_host()));
  if (!status.has_redis) throw Failure(not_reachable, verbs::no_redis);
  const std::string& url = status.redis.url;
  if (url.empty())
    throw Failure(not_reachable, "w8yd does not report the URL of its Redis; use --redis-url");
  return reach_of(url, "the URL of Redis from w8yd");
}

const verbs::Reach& Context::reach() {
  if (!reach_) reach_ = find_redis();
  return *reach_;
}

std::string Context::fleet() {
  if (!options_.fleet.empty()) return options_.fleet;
  const Config* config = this->config();
  return config == nullptr ? SupervisorSettings{}.fleet : config->supervisor.fleet;
}

verbs::Connection& Context::connection() {
  if (connection_) return *connection_;
  connection_ = std::make_unique<verbs::Connection>(loop_, reach());
  if (options_.changes) refuse_other_formats();
  return *connection_;
}

void Context::refuse_other_formats() {
  verbs::Connection& at = connection();
  try {
    const FleetView view = verbs::fleet_hosts({at.redis(), at.reach(), nullptr, fleet(), {}});
    if (const std::string conflict = format_conflict(view, nullptr); !conflict.empty())
      throw Failure(refused, conflict);
  } catch (const verbs::QueryError& refusal) {
    if (refusal.status() == 503) throw redis_failure(false, refusal.what());
    // The fleet cannot be read: the Redis user may lack the permissions for its keys.
  }
}

// ---- lists

std::optional<verbs::KnownLists> Context::find_lists() {
  if (const Config* config = this->config()) return verbs::KnownLists(*config);
  if (options_.only_redis()) return std::nullopt;
  const auto text = try_request(api::endpoints::config.target());
  if (!text || !text->has("lists")) return std::nullopt;
  std::map<std::string, verbs::KnownList> lists;
  for (const JsonFields& list : text->objects("lists")) {
    const auto prefix = list.bytes("list");
    const auto settings = list.object("settings");
    if (prefix && settings) lists[*prefix] = read_known(*settings);
  }
  return verbs::KnownLists(std::move(lists));
}

const verbs::KnownLists* Context::lists() {
  if (!std::exchange(lists_looked_for_, true)) lists_ = find_lists();
  return lists_ ? &*lists_ : nullptr;
}

verbs::QueryContext Context::query_items(const std::string& list) {
  if (const auto known = lists() == nullptr ? std::nullopt : lists()->find(list))
    if (!known->kind->in_redis) verbs::refuse_gearman(list);
  return query();
}

verbs::QueryContext Context::query() {
  verbs::Connection& at = connection();
  return {at.redis(), at.reach(),        lists(),
          fleet(),    options_.lock_key, options_.changes ? operator_name() : std::string()};
}

}  // namespace w8y::ctl
