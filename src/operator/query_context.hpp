// Context of a verb.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

#include "operator/known_lists.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

inline constexpr const char* no_redis =
    "the config has no [redis], since all lists are of Gearman: there is no history of runs, no "
    "pause and no fleet";

/// Redis, lists and fleet for one verb. In w8yd, verbs run on the thread of the QueryRunner and
/// must not access any other state of w8yd.
struct QueryContext {
  redis::SyncClient& redis;
  const redis::ClientOptions& reach;  ///< how Redis is reached
  const KnownLists* lists;            ///< nullptr: the lists are not known
  std::string fleet;                  ///< name of the fleet
  std::string lock_key = {};          ///< overrides that of circular lists; empty: no override
  std::string by = {};                ///< operator, for the record of changes; empty: no record
  /// Set while a change is in flight (write()). nullptr: the caller does not need it.
  std::atomic<bool>* in_doubt = nullptr;

  [[nodiscard]] bool cluster() const { return reach.url.kind == redis::Url::Kind::cluster; }
};

/// Connects to Redis if there is no connection. Throws redis::RedisError if it is unreachable.
void connect(QueryContext& query);

/// Connects to Redis if necessary, then calls `change`, which makes a change in Redis. Sets
/// `in_doubt` until the reply has arrived: without a reply, Redis may have made the change.
template <class Change>
auto write(QueryContext& query, Change&& change) {
  connect(query);
  const auto mark = [&query](bool in_doubt) {
    if (query.in_doubt != nullptr) *query.in_doubt = in_doubt;
  };
  mark(true);
  try {
    auto done = change();
    mark(false);
    return done;
  } catch (const redis::RedisError& error) {
    if (error.code() != redis::ErrorCode::none) mark(false);
    throw;
  }
}

/// Returns the error of Redis, with the missing permission if that is the cause.
std::string refused_by_redis(const redis::RedisError& error, const redis::ClientOptions& reach);

/// Exception of a verb that cannot be carried out.
class QueryError : public std::runtime_error {
 public:
  /// `status`: HTTP status, such as 400: invalid request; 503: Redis is unavailable.
  QueryError(unsigned status, const std::string& what)
      : std::runtime_error(what), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

}  // namespace w8y::verbs
