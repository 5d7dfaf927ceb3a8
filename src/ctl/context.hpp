// Access to the config, to the w8yd of this host and to Redis. Each is located when a subcommand
// first needs it, in the order that `w8yctl --help` gives.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/list_config.hpp"
#include "ctl/host_api.hpp"
#include "ctl/options.hpp"
#include "loop/loop.hpp"
#include "operator/connection.hpp"
#include "operator/query_context.hpp"
#include "operator/run_matches.hpp"

namespace w8y::ctl {

/// Access for one subcommand. All functions except try_request() throw Failure.
class Context {
 public:
  explicit Context(const Options& options) : options_(options) {}
  /// Uses another clock than the system's.
  Context(const Options& options, const Clock& clock) : options_(options), loop_(clock) {}

  // The w8yd of this host.
  HostApi& host();
  /// Returns the response of w8yd; nullopt: w8yd is not reachable, or its address is not known.
  [[nodiscard]] std::optional<view::JsonFields> try_request(const http::Target& target);

  /// Returns the response of w8yd if it has the member `member`, with any HTTP status. Throws
  /// Failure for another response. nullopt: w8yd is not reachable.
  std::optional<view::JsonFields> request_if_present(const http::Target& target,
                                                     const char* member);
  /// Adds the runs of this host, if its w8yd replies.
  void add_here(verbs::RunMatches& matches);

  // Redis.
  /// Returns whether the URL of Redis was given, but no w8yd: --redis-url, or $W8Y_REDIS_URL
  /// without --socket and --config.
  [[nodiscard]] bool names_redis() const;
  /// Returns the connection. If the subcommand changes Redis, refuses other formats first.
  verbs::Connection& connection();
  /// Throws Failure if a live host of the fleet uses another format: it would not see the change.
  void refuse_other_formats();
  const verbs::Reach& reach();
  loop::Loop& loop() { return loop_; }
  /// Returns the name of the fleet: from the command line, otherwise from the config.
  [[nodiscard]] std::string fleet();

  /// Returns the known lists; nullptr: neither a config nor w8yd reports them.
  const verbs::KnownLists* lists();
  /// Returns the context for verbs. This Context must outlive it.
  verbs::QueryContext query();
  /// As query(), for subcommands about items. Refuses a known list of Gearman with 409, without a
  /// query to Redis.
  verbs::QueryContext query_items(const std::string& list);

 private:
  const Config* config();
  std::string find_socket();
  verbs::Reach find_redis();
  std::optional<std::string> embedded_redis(const std::string& configured);
  std::optional<verbs::KnownLists> find_lists();

  const Options& options_;
  loop::Loop loop_;
  bool config_looked_for_ = false;
  std::optional<Config> config_;
  std::unique_ptr<HostApi> host_;
  std::optional<verbs::Reach> reach_;
  std::unique_ptr<verbs::Connection> connection_;
  bool lists_looked_for_ = false;
  std::optional<verbs::KnownLists> lists_;
};

}  // namespace w8y::ctl
