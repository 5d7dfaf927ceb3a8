// What a verb works with.
#pragma once

#include <stdexcept>
#include <string>

#include "operator/known_lists.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

inline constexpr const char* no_redis =
    "there is no [redis] in the config, since all lists are of Gearman: runs have no history, "
    "lists "
    "no pauses, and hosts no fleet";

/// In w8yd on the thread of the QueryRunner: what else is of w8yd is not to be touched.
struct QueryContext {
  redis::SyncClient& redis;
  const redis::ClientOptions& reach;  ///< how Redis is reached
  const KnownLists* lists;            ///< nullptr: it is not known which lists there are
  std::string fleet;                  ///< name of the fleet
  std::string lock_key = {};          ///< overrides that of circular lists; empty: it does not

  [[nodiscard]] bool cluster() const { return reach.url.kind == redis::Url::Kind::cluster; }
};

/// What Redis says, and which permission is missing, if that is it.
std::string refused_by_redis(const redis::RedisError& error, const redis::ClientOptions& reach);

/// Ends a verb that can't be done.
class Refusal : public std::runtime_error {
 public:
  /// `status`: of HTTP. 400: the question is wrong; 503: Redis can't be asked.
  Refusal(unsigned status, const std::string& what) : std::runtime_error(what), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

}  // namespace w8y::verbs
