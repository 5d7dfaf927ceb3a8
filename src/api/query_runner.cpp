#include "api/query_runner.hpp"

#include <malloc.h>

#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "process/signals_blocked.hpp"

namespace w8y::api {

namespace {

http::HttpResponse no_answer(const std::string& why) {
  return http::error_response(503, "no reply from Redis: " + why);
}

}  // namespace

/// Part of the QueryRunner that runs on the query thread. The thread of the host creates and
/// destroys the loop, because it can report that no descriptors are left.
class QueryRunner::Worker {
 public:
  struct Question {
    std::uint64_t id = 0;
    QueryRunner::Query query;
    Instant end{};
    std::shared_ptr<const redis::ClientOptions> reach;
    ConfigPtr config;
    bool trusted = false;
  };

  struct Answered {
    std::uint64_t id = 0;
    http::HttpResponse response;
  };

  Worker(const QueryLimits& limits, loop::AsyncWakeup& answered)
      : limits_(limits), finished_(answered), wake_(loop_, [this] { on_word(); }) {}

  // Called by the thread of the host.
  void put(Question question) {
    const std::lock_guard lock(mutex_);
    (question.trusted ? trusted_questions_ : questions_).push_back(std::move(question));
    wake_.wake();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    questions_.clear();
    trusted_questions_.clear();
    wake_.wake();
  }
  std::vector<Answered> drain() {
    const std::lock_guard lock(mutex_);
    return std::exchange(responses_, {});
  }

  // Main function of the query thread.
  void run() {
    {
      Timer unused(loop_.timers());
      while (!stop_requested_) {
        if (const auto question = next()) {
          unused.cancel();
          work(*question);
          continue;
        }
        if (client_ && !unused.pending())
          unused.set(loop_.now() + limits_.unused, [this] { close(); });
        loop_.iterate(true);
      }
    }
    client_.reset();
  }

 private:
  /// Called on the query thread, possibly during a query.
  void on_word() {
    const std::lock_guard lock(mutex_);
    stop_requested_ = stopping_;
    if (stop_requested_ && client_) client_->give_up("w8yd is shutting down");
  }
  std::optional<Question> next() {
    const std::lock_guard lock(mutex_);
    const bool one_kind = questions_.empty() || trusted_questions_.empty();
    last_was_trusted_ = one_kind ? !trusted_questions_.empty() : !last_was_trusted_;
    auto& from = last_was_trusted_ ? trusted_questions_ : questions_;
    if (from.empty()) return std::nullopt;
    Question question = std::move(from.front());
    from.pop_front();
    return question;
  }

  void work(const Question& question) {
    if (loop_.now() >= question.end) return;  // the timeout has already sent a response
    if (client_ && (reach_ != question.reach || !client_->client().connected())) client_.reset();
    bool broken = false;
    http::HttpResponse response = reply(question, broken);
    if (broken) close();
    if (client_) client_->give_up_at(std::nullopt);
    if (response.body.size() > limits_.answer)
      response = http::error_response(
          409, "the response exceeds " + format_size(limits_.answer) + "; use a smaller ?limit=");
    const std::lock_guard lock(mutex_);
    responses_.push_back({question.id, std::move(response)});
    finished_.wake();
  }

  http::HttpResponse reply(const Question& question, bool& broken) {
    try {
      if (!client_) client_ = std::make_unique<redis::SyncClient>(loop_, *question.reach);
      reach_ = question.reach;
      client_->give_up_at(question.end);
      const verbs::KnownLists lists(*question.config);
      verbs::QueryContext context{*client_, *reach_, &lists, question.config->supervisor.fleet};
      return question.query(context);
    } catch (const verbs::QueryError& refusal) {
      return http::error_response(refusal.status(), refusal.what());
    } catch (const redis::RedisError& error) {
      broken = error.code() == redis::ErrorCode::none;
      if (broken) return no_answer(error.what());
      return http::error_response(
          redis::is_about_server(error.code()) ? 503 : 409,
          "Redis refuses: " + verbs::refused_by_redis(error, *question.reach));
    } catch (const std::bad_alloc&) {
      broken = true;
      return http::error_response(503, "not enough memory for this response");
    } catch (const std::exception& error) {
      broken = true;  // unread replies may follow
      return http::error_response(500, error.what());
    }
  }

  /// Closes the connection and returns the memory of large responses to the system.
  void close() {
    client_.reset();
    malloc_trim(0);
  }

  const QueryLimits limits_;
  loop::AsyncWakeup& finished_;
  std::mutex mutex_;
  std::deque<Question> questions_;
  std::deque<Question> trusted_questions_;
  bool last_was_trusted_ = false;  ///< whether the last query came from a trusted client
  std::vector<Answered> responses_;
  bool stopping_ = false;

  // Used by the query thread only.
  loop::Loop loop_;
  loop::AsyncWakeup wake_;
  std::unique_ptr<redis::SyncClient> client_;
  std::shared_ptr<const redis::ClientOptions> reach_;  ///< options of client_
  bool stop_requested_ = false;
};

QueryRunner::QueryRunner(loop::Loop& loop, Ground ground, QueryLimits limits)
    : loop_(loop), ground_(std::move(ground)), limits_(limits), pool_(limits.waiting) {}

QueryRunner::~QueryRunner() {
  stop();
}

bool QueryRunner::start_worker() {
  if (worker_) return true;
  try {
    finished_ = std::make_unique<loop::AsyncWakeup>(loop_, [this] { handle_answers(); });
    finished_->keep_loop_alive(false);
    auto worker = std::make_unique<Worker>(limits_, *finished_);
    const process::SignalsBlocked blocked;  // the thread of the host's loop handles signals
    thread_ = std::thread([made = worker.get()] { made->run(); });
    worker_ = std::move(worker);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void QueryRunner::run(Query query, Then then, bool trusted) {
  if (!pool_.fits(trusted) || stopped_)
    return then(http::error_response(
        503, stopped_ ? "w8yd is shutting down" : "too many queries wait for Redis; retry later"));
  if (!start_worker())
    return then(http::error_response(503, "cannot start a thread to query Redis"));
  if (!reach_) reach_ = std::make_shared<const redis::ClientOptions>(ground_.reach());
  const std::uint64_t id = ++last_;
  const Instant end = loop_.now() + limits_.timeout;
  Asked& asked =
      pending_.try_emplace(id, loop_.timers(), std::move(then), pool_.hold(trusted)).first->second;
  // The query thread stops a query in time by itself, unless the query computes or waits for other
  // queries.
  asked.timeout.set(end + std::chrono::milliseconds(100), [this, id] {
    respond(id, no_answer("not within " + format_duration(limits_.timeout)));
  });
  worker_->put({id, std::move(query), end, reach_, ground_.config(), trusted});
}

void QueryRunner::respond(std::uint64_t id, http::HttpResponse response) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  const Then then = std::move(found->second.then);
  pending_.erase(found);
  then(std::move(response));
}

void QueryRunner::handle_answers() {
  for (auto& answered : worker_->drain()) respond(answered.id, std::move(answered.response));
}

void QueryRunner::stop() {
  stopped_ = true;
  if (worker_) worker_->stop();
  if (thread_.joinable()) thread_.join();
  worker_.reset();
  finished_.reset();
  pending_.clear();
}

}  // namespace w8y::api
