// Where things are: the config, the w8yd of this host, Redis. Each is looked for when a command
// first needs it; `w8yctl --help` says in which order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <w8y/rule.hpp>

#include "app/ctl/options.hpp"
#include "loop/loop.hpp"
#include "ops/http_client.hpp"
#include "ops/status_json.hpp"
#include "redis/sync.hpp"
#include "source/keys.hpp"

namespace w8y::app::ctl {

class Site {
 public:
  explicit Site(const Options& options) : options_(options) {}

  // The w8yd of this host. All throw Failure.
  [[nodiscard]] ops::Json ask(const std::string& path);
  /// What came of the order; refusals are Failures.
  ops::Json order(const std::string& path, const ops::Json& body = ops::Json::object());
  /// nullopt: nobody answers there.
  [[nodiscard]] std::optional<ops::Json> try_ask(const std::string& path);

  // Redis. All throw Failure.
  redis::SyncClient& redis();
  redis::ClientOptions redis_options();
  loop::Loop& loop() { return loop_; }

  /// The lists that are known here, with the names of their lock keys; nullopt: nobody says.
  const std::optional<std::map<std::string, std::string>>& lists();
  /// The list that the command names, or else all that are known.
  std::vector<std::string> chosen_lists();
  /// Of a list that may be unknown here: one that only `w8y` works on.
  source::CircularKeys keys(const std::string& prefix);
  /// Throws if the list is neither known nor in Redis: its name is a slip, most likely.
  void must_exist(const std::string& prefix);

 private:
  const Config* config();
  std::string find_socket();
  ops::HttpClient& host();
  redis::ClientOptions find_redis();
  std::optional<std::string> embedded_redis(const redis::Url& configured);
  std::optional<std::map<std::string, std::string>> find_lists();

  const Options& options_;
  loop::Loop loop_;
  bool config_looked_for_ = false;
  std::optional<Config> config_;
  std::string socket_;
  std::unique_ptr<ops::HttpClient> host_;
  std::optional<redis::ClientOptions> redis_options_;
  std::unique_ptr<redis::SyncClient> redis_;
  bool lists_looked_for_ = false;
  std::optional<std::map<std::string, std::string>> lists_;
};

}  // namespace w8y::app::ctl
