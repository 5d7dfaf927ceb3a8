// Runs one item of a list with the classes of w8yd, a redis-server and a child, and writes the
// functions that were entered to FILE, which stations.py reads. Usage: one-run KIND FILE.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "core/job_settings.hpp"
#include "core/poller.hpp"
#include "executor/executor_factory.hpp"
#include "recorder.hpp"
#include "redis/url.hpp"
#include "source/source_factory.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace {

using namespace w8y;

/// Host that serves one list.
class OneRun final : private PollerObserver {
 public:
  OneRun(const std::string& url, ListConfig config, trace::Recorder& recorder)
      : recorder_(recorder),
        session_(std::make_shared<store::RedisSession>(loop_, options(url),
                                                       store::RedisSession::Holder{"here", 77, 1})),
        rule_(std::make_shared<const ListConfig>(std::move(config))),
        poller_(PollerHost{loop_.clock(), loop_.timers(), slots_, *this}, rule_) {}

  /// Serves the list until one run is settled. Calls `release_child` when the run has started.
  void run(const std::function<void()>& release_child) {
    poller_.begin(
        source::make_source(session_, *rule_, idle_, poller_.source_handler()),
        executor::make_executor(loop_, {.host = "here"}, poller_.run_handler(), *rule_, {}));
    wait("the start of the run", [this] { return started_; });
    recorder_.mark("started");
    release_child();
    wait("the settlement", [this] { return ended_ && poller_.unsettled() == 0; });
  }

 private:
  static redis::ClientOptions options(const std::string& url) {
    redis::ClientOptions options;
    options.url = redis::parse_url(url);
    return options;
  }
  template <class Fact>
  void wait(const char* what, Fact fact) {
    if (!test::turn_until(loop_, fact))
      throw std::runtime_error(std::string("timed out waiting for ") + what);
  }

  // PollerObserver
  void run_started(const Poller&, const ActiveRun&) override { started_ = true; }
  void run_message(const Poller&, const ActiveRun&, const Message&) override {}
  void run_logged(const Poller&, const ActiveRun&, std::string_view, bool) override {}
  void run_ended(const Poller&, const EndedRun& run) override {
    if (!std::holds_alternative<Succeeded>(run.outcome))
      throw std::runtime_error("the run failed: " + outcome_reason(run.outcome));
    ended_ = true;
  }
  void lease_changed(const Poller&, const ActiveRun&, bool) override {}
  void state_changed(Poller&) override {}
  void shortage_changed(const Poller&) override {}

  trace::Recorder& recorder_;
  loop::Loop loop_;
  std::shared_ptr<store::RedisSession> session_;
  SlotPool slots_{loop_.clock(), 0};
  IdlePolls idle_{loop_.timers(), loop_.clock(), 100, 1};
  ListConfigPtr rule_;
  Poller poller_;
  bool started_ = false;
  bool ended_ = false;
};

void run(const std::string& kind, const std::string& file) {
  const test::RedisServer server;
  // The child waits for this lock, so that in every trace it exits after the run has started.
  const std::string lock = server.dir() / "lock";
  const int held = open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (held < 0 || flock(held, LOCK_EX) != 0) throw std::runtime_error("cannot lock " + lock);
  ListConfig config;
  config.prefix = "work";
  config.key_expiry = std::chrono::hours(1);  // no renewal during the run
  config.command = {"flock", lock, "true"};
  if (kind == "job") {
    config.source = JobSettings{};
    server.command({"LPUSH", "feed.ids:work", "id"});
    server.command({"HSET", "feed.items:work", "id", "payload"});
    server.command({"ZADD", "feed.published:work", "1732147200000", "id"});
  } else {
    server.command({"RPUSH", "work:list", "item"});
  }
  trace::Recorder recorder;
  OneRun one(server.url(), std::move(config), recorder);
  one.run([held] { flock(held, LOCK_UN); });
  recorder.write(file);
  close(held);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    std::signal(SIGPIPE, SIG_IGN);
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "one-run: %s\n", error.what());
    return 1;
  }
  return 0;
}
