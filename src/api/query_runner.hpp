// Runs the Redis queries of the status API on a separate thread, so that large replies and JSON
// encoding never delay lease renewals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "core/list_config.hpp"
#include "core/subsystem.hpp"
#include "core/timers.hpp"
#include "http/client_pool.hpp"
#include "http/http.hpp"
#include "loop/async_wakeup.hpp"
#include "loop/loop.hpp"
#include "operator/query_context.hpp"

namespace w8y::api {

/// Limits of queries.
struct QueryLimits {
  std::size_t waiting = 32;                     ///< unfinished queries, in an http::ClientPool
  std::size_t answer = std::size_t{64} << 20;   ///< bytes of one response
  Duration timeout = std::chrono::seconds(10);  ///< for one query, from its request on
  Duration unused = std::chrono::seconds(30);   ///< until an unused connection is closed
};

/// Thread with a loop and a Redis connection of its own. The first query starts the thread. The
/// connection is made when a query needs it, and again when the config names another Redis.
class QueryRunner final : public Subsystem {
 public:
  using Query = std::function<http::HttpResponse(verbs::QueryContext&)>;
  using Then = std::function<void(http::HttpResponse)>;
  /// Options of the Redis connection, and the config that is in force or, at the start, being
  /// applied.
  struct Ground {
    std::function<redis::ClientOptions()> reach;
    std::function<ConfigPtr()> config;
  };

  QueryRunner(loop::Loop& loop, Ground ground, QueryLimits limits = {});
  ~QueryRunner() override;

  /// Runs `query` on the query thread, one query at a time. `query` may use its captures and its
  /// QueryContext. It returns a response or throws verbs::QueryError or redis::RedisError. `then`
  /// is called on the loop with the response, or dropped with the QueryRunner. The response is 503
  /// if the queue is full, or if Redis is unavailable or too slow. While both wait, queries for
  /// trusted clients (http::HttpReply::trusted) and for other clients alternate.
  void run(Query query, Then then, bool trusted);
  /// Aborts the active query and joins the thread. Waits only while the query computes.
  void stop() override;
  /// Makes the next query read the client options again.
  void commit(const Config& /*wanted*/) override { reach_.reset(); }

 private:
  class Worker;
  struct Asked {
    Asked(TimerQueue& timers, Then answer, http::ClientPool::Hold place)
        : then(std::move(answer)), timeout(timers), hold(std::move(place)) {}
    Then then;
    Timer timeout;
    http::ClientPool::Hold hold;
  };
  [[nodiscard]] bool start_worker();
  void handle_answers();
  void respond(std::uint64_t id, http::HttpResponse response);

  loop::Loop& loop_;
  const Ground ground_;
  const QueryLimits limits_;
  std::shared_ptr<const redis::ClientOptions> reach_;
  http::ClientPool pool_;
  std::map<std::uint64_t, Asked> pending_;
  std::uint64_t last_ = 0;
  bool stopped_ = false;
  std::unique_ptr<loop::AsyncWakeup> finished_;
  std::unique_ptr<Worker> worker_;
  std::thread thread_;
};

}  // namespace w8y::api
