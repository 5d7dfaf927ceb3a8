#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "gearman/socket_worker.hpp"
#include "gearmand.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::gearman;
using namespace w8y::gearman::test;
using namespace w8y::test;
using namespace std::string_literals;

namespace worker_test {
namespace {

struct Bench : WorkerHandler {
  loop::Loop loop;
  std::vector<std::string> told;
  std::deque<Job> jobs;
  std::size_t requested_when_confirmed = 0;
  std::unique_ptr<Worker> worker;

  explicit Bench(int port) {
    WorkerTerms terms;
    terms.server = {"127.0.0.1", static_cast<std::uint16_t>(port)};
    terms.client_id = "alpha";
    terms.max_workload = std::size_t{16} << 20U;
    worker = std::make_unique<SocketWorker>(loop, terms, *this);
  }
  void on_up(Worker&) override { told.emplace_back("up"); }
  void on_down(Worker&, const std::string& why) override { told.push_back("down: " + why); }
  void on_job(Worker&, Job&& job) override { jobs.push_back(std::move(job)); }
  void on_no_job(Worker&) override { told.emplace_back("none"); }
  void on_woken(Worker&) override { told.emplace_back("woken"); }
  void on_confirmed(Worker& by, std::uint64_t mark) override {
    requested_when_confirmed = by.requested();
    told.push_back("confirmed " + std::to_string(mark));
  }
  void on_error(Worker&, const std::string& why) override { told.push_back("error: " + why); }

  bool says(const std::string& what) {
    return turn_until(loop, [&] { return !told.empty() && told.back() == what; });
  }
  bool has_job() {
    return turn_until(loop, [&] { return !jobs.empty(); });
  }
};

}  // namespace

TEST_CASE("gearman: a worker sleeps until there is work, and what it says comes to the client") {
  Gearmand server;
  Bench bench(server.port());
  REQUIRE(bench.says("up"));
  bench.worker->offer("work", true);
  bench.worker->grab();
  REQUIRE(bench.says("none"));
  bench.worker->sleep();
  turn_until(bench.loop, [&] { return server.counts("work") == "0 0 1"; });

  GearmanClient client(server, {"-f", "work"}, "in\0put"s);
  REQUIRE(bench.says("woken"));
  bench.worker->grab();
  REQUIRE(bench.has_job());
  const Job job = bench.jobs.front();
  CHECK(job.workload == "in\0put"s);
  CHECK_FALSE(job.unique.empty());
  bench.worker->send(request(PacketType::work_status, {job.handle, "1", "2"}));
  bench.worker->send(request(PacketType::work_complete, {job.handle, "out\0put"s}));
  const std::uint64_t mark = bench.worker->mark();
  CHECK(bench.says("confirmed " + std::to_string(mark)));
  CHECK(turn_until(bench.loop, [&] { return client.ended(); }));
  CHECK(client.status() == 0);
  CHECK(client.output().find("out\0put"s) != std::string::npos);
}

TEST_CASE("gearman: several jobs at once, of any size, and a server that dies gives them again") {
  Gearmand server;
  Bench bench(server.port());
  REQUIRE(bench.says("up"));
  bench.worker->offer("work", true);
  // More than a socket holds; the client takes time that grows with the square of its input.
  const std::string large(std::size_t{1} << 20U, 'x');
  GearmanClient one(server, {"-f", "work"}, "1");
  GearmanClient two(server, {"-f", "work"}, large);
  turn_until(bench.loop, [&] { return server.counts("work") == "2 0 1"; });
  bench.worker->grab();
  bench.worker->grab();
  bench.worker->grab();
  CHECK(turn_until(bench.loop, [&] { return bench.jobs.size() == 2; }));
  CHECK(bench.says("none"));
  CHECK(bench.jobs[0].workload.size() + bench.jobs[1].workload.size() == large.size() + 1);

  server.kill();
  CHECK(turn_until(bench.loop, [&] { return bench.told.back().starts_with("down: "); }));
  CHECK(bench.worker->state() != Worker::State::up);
  server.start();
  CHECK(bench.says("up"));
}

TEST_CASE("gearman: a worker that leaves hands its jobs to other workers") {
  Gearmand server;
  Bench first(server.port());
  REQUIRE(first.says("up"));
  first.worker->offer("work", true);
  GearmanClient client(server, {"-f", "work", "-b"}, "job");
  turn_until(first.loop, [&] { return server.counts("work").starts_with("1"); });
  first.worker->grab();
  REQUIRE(first.has_job());
  first.worker.reset();
  turn_until(first.loop, [&] { return server.counts("work") == "1 0 0"; });
  Bench second(server.port());
  REQUIRE(second.says("up"));
  second.worker->offer("work", true);
  second.worker->grab();
  REQUIRE(second.has_job());
  CHECK(second.jobs.front().workload == "job");
}

TEST_CASE("gearman: the reply to GRAB_JOB confirms the packets sent before it") {
  Gearmand server;
  Bench bench(server.port());
  REQUIRE(bench.says("up"));
  bench.worker->offer("work", true);
  const auto since = [&](std::size_t count) {
    turn_until(bench.loop, [&] { return bench.told.size() >= 1 + count; });
    return std::vector<std::string>(bench.told.begin() + 1, bench.told.end());
  };
  const std::string first = "confirmed " + std::to_string(bench.worker->mark());
  bench.worker->grab();
  bench.worker->grab();
  CHECK(since(3) == std::vector<std::string>{"none", first, "none"});
  // The confirmation is reported before the reply, which may be a job: until then the worker is not
  // idle.
  CHECK(bench.requested_when_confirmed == 1);
  // No further job was requested.
  bench.told.resize(1);
  bench.worker->grab();
  const std::string second = "confirmed " + std::to_string(bench.worker->mark());
  CHECK(since(2) == std::vector<std::string>{"none", second});
}

TEST_CASE("gearman: a port without a server is reported once and retried") {
  Bench bench(free_port());
  CHECK(turn_until(bench.loop, [&] { return !bench.told.empty(); }));
  CHECK(bench.told.front() == "down: cannot connect: Connection refused");
  turn_for(bench.loop, std::chrono::milliseconds(300));
  CHECK(bench.told.size() == 1);
}

}  // namespace worker_test
