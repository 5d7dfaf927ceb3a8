// Source for Gearman lists, with fake servers: claims and settlements.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "core/gearman_settings.hpp"
#include "fakes.hpp"
#include "gearman/packet.hpp"
#include "source/gearman/source.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using w8y::gearman::Job;
using w8y::gearman::WorkerHandler;
using w8y::source::GearmanSource;
using State = w8y::gearman::Worker::State;

namespace gearman_source_test {
namespace {

class FakeWorker final : public gearman::Worker {
 public:
  FakeWorker(GearmanServer server, WorkerHandler& told) : told_(told), server_(std::move(server)) {}

  [[nodiscard]] State state() const override { return state_; }
  [[nodiscard]] const GearmanServer& server() const override { return server_; }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::size_t requested() const override { return asked_; }
  [[nodiscard]] bool asleep() const override { return asleep_; }
  void offer(const std::string& function, bool able) override {
    const std::string now = able ? function : "";
    if (now != offered) asleep_ = false;
    offered = now;
  }
  void grab() override {
    ++asked_;
    ++grabs;
  }
  void sleep() override { asleep_ = true; }
  void send(std::string packet) override { said += packet; }
  std::uint64_t mark() override { return marks + 1; }

  // Events from the server.
  void up() {
    state_ = State::up;
    error_.clear();
    told_.on_up(*this);
  }
  void down(const std::string& why = "gone") {
    state_ = State::down;
    error_ = why;
    asked_ = 0;
    asleep_ = false;
    told_.on_down(*this, why);
  }
  /// Replies to a GRAB_JOB.
  void job(const std::string& unique, bool cut = false) {
    REQUIRE(asked_ > 0);
    --asked_;
    told_.on_job(*this, Job{"H:" + unique, "resize", unique, "load of " + unique, cut});
  }
  void no_job() {
    REQUIRE(asked_ > 0);
    --asked_;
    told_.on_no_job(*this);
  }
  void wake() {
    asleep_ = false;
    told_.on_woken(*this);
  }
  void confirm() { told_.on_confirmed(*this, ++marks); }

  std::string offered;
  std::string said;
  std::size_t grabs = 0;
  std::uint64_t marks = 0;

 private:
  WorkerHandler& told_;
  const GearmanServer server_;
  State state_ = State::connecting;
  std::string error_;
  std::size_t asked_ = 0;
  bool asleep_ = false;
};

class FakeServers final : public gearman::Servers {
 public:
  [[nodiscard]] const std::vector<GearmanServer>& servers() const override { return all; }
  std::unique_ptr<gearman::Worker> connect(const GearmanServer& server,
                                           WorkerHandler& handler) override {
    auto made = std::make_unique<FakeWorker>(server, handler);
    workers.push_back(made.get());
    return made;
  }
  void add(gearman::ServersUser& one) override { user = &one; }
  void remove(gearman::ServersUser&) override { user = nullptr; }
  void told_up(const gearman::Worker&) override {}
  void told_down(const gearman::Worker&, const std::string&) override {}
  void forget(const gearman::Worker&) override {}
  void on_problem(const GearmanServer&, const std::string&, const std::string& why) override {
    notes.push_back(why);
  }

  std::vector<GearmanServer> all = {{"a", 1}, {"b", 2}};
  std::vector<FakeWorker*> workers;  ///< in order of creation; some may be destroyed
  std::vector<std::string> notes;
  gearman::ServersUser* user = nullptr;
};

class FakeRecords final : public store::GearmanRecords {
 public:
  explicit FakeRecords(store::GearmanRecordsHandler& handler) : told(handler) {}
  void use(ListConfigPtr) override {}
  [[nodiscard]] bool ready() const override { return known; }
  [[nodiscard]] const std::optional<std::string>& pause() const override { return paused; }
  void announce(const RunEvent&) override { ++news; }
  void enter(EndedRun&& run) override { entered.push_back(std::move(run)); }
  [[nodiscard]] std::size_t pending() const override { return 0; }
  void set_pause(std::optional<std::string> pause) {
    known = true;
    paused = std::move(pause);
    told.on_pause();
  }

  store::GearmanRecordsHandler& told;
  bool known = true;
  std::optional<std::string> paused;
  std::size_t news = 0;
  std::vector<EndedRun> entered;
};

/// List that claims again when it may, as a poller does.
struct Bench final : SourceHandler {
  explicit Bench(std::vector<GearmanServer> servers_ = {{"a", 1}, {"b", 2}}) {
    servers.all = std::move(servers_);
    source = std::make_unique<GearmanSource>(source::GearmanHost{clock, timers, run_ids, servers},
                                             static_cast<SourceHandler&>(*this),
                                             [this](store::GearmanRecordsHandler& told) {
                                               auto made = std::make_unique<FakeRecords>(told);
                                               records = made.get();
                                               return made;
                                             });
    ListConfig made;
    made.prefix = "work";
    made.source = GearmanSettings{"resize"};
    rule = std::make_shared<const ListConfig>(made);
    source->use(rule);
  }

  void on_claimed(ClaimReply&& reply) override {
    replies.push_back(std::move(reply));
    for (Claim& claim : replies.back().claims) claims.push_back(claim);
  }
  void on_may_claim() override { ++may; }
  void on_lease_lost(const RunId& run) override { lost.push_back(run); }
  void on_lease_back(const RunId&) override {}
  void on_lease_expiring(const RunId&) override {}
  void on_all_settled() override { ++settled; }

  FakeWorker& worker(std::size_t number) { return *servers.workers[number]; }
  void all_up() {
    for (FakeWorker* each : servers.workers) each->up();
  }
  void turn() { timers.run_due(clock.now()); }
  EndedRun ended(const Claim& claim, Outcome outcome) {
    EndedRun run;
    run.claim = claim;
    run.rule = rule;
    run.outcome = std::move(outcome);
    run.end.stderr_tail = "tail";
    return run;
  }

  FakeClock clock;
  TimerQueue timers;
  RunIds run_ids{1};
  FakeServers servers;
  std::unique_ptr<GearmanSource> source;
  FakeRecords* records = nullptr;
  ListConfigPtr rule;
  std::vector<ClaimReply> replies;
  std::vector<Claim> claims;
  std::vector<RunId> lost;
  std::size_t may = 0;
  std::size_t settled = 0;
};

}  // namespace

TEST_CASE(
    "gearman source: requests in flight do not exceed the jobs needed, and servers alternate") {
  Bench bench;
  bench.all_up();
  bench.source->claim(3);
  // One request per server until the server has returned a job.
  CHECK(bench.worker(0).requested() + bench.worker(1).requested() == 2);
  CHECK(bench.worker(0).offered == "resize");
  bench.worker(0).job("u1");
  CHECK(bench.worker(0).requested() + bench.worker(1).requested() == 2);
  bench.worker(1).job("u2");
  CHECK(bench.worker(0).requested() + bench.worker(1).requested() == 1);
  bench.worker(0).job("u3");
  REQUIRE(bench.replies.size() == 1);
  CHECK(bench.replies[0].end == ClaimEnd::more);
  REQUIRE(bench.claims.size() == 3);
  CHECK(bench.claims[0].item == "u1");
  CHECK(bench.claims[0].call.name == "resize");
  CHECK(bench.claims[0].call.id == "u1");
  CHECK(bench.claims[0].call.input == "load of u1");
  CHECK(bench.worker(0).requested() + bench.worker(1).requested() == 0);
}

TEST_CASE("gearman source: a worker without a job sleeps, and its wake-up allows another claim") {
  Bench bench;
  bench.all_up();
  bench.source->claim(2);
  bench.worker(0).no_job();
  CHECK(bench.worker(0).asleep());
  CHECK(bench.replies.empty());
  bench.worker(1).job("u1");
  bench.worker(1).no_job();
  REQUIRE(bench.replies.size() == 1);
  CHECK(bench.replies[0].end == ClaimEnd::empty);
  CHECK_FALSE(bench.source->may_claim());
  bench.worker(0).wake();
  CHECK(bench.may == 1);
  bench.source->claim(1);
  CHECK(bench.worker(0).requested() == 1);
  CHECK(bench.worker(1).requested() == 0);  // still in pre-sleep
}

TEST_CASE("gearman source: a job is accepted after the reply no_job to an earlier request") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(4);
  bench.worker(0).job("u1");
  REQUIRE(bench.worker(0).requested() == 2);
  bench.worker(0).no_job();  // reply to the first request; the second is in flight
  bench.worker(0).job("u2");
  REQUIRE(bench.worker(0).requested() == 2);
  bench.worker(0).no_job();
  bench.worker(0).no_job();
  CHECK(bench.worker(0).asleep());
  CHECK(bench.claims.size() == 2);
}

TEST_CASE("gearman source: a claim does not wait for a server that does not reply") {
  Bench bench;
  bench.all_up();
  bench.source->claim(2);
  bench.worker(0).no_job();
  bench.clock.set(bench.clock.now() + GearmanSource::patience);
  bench.turn();
  REQUIRE(bench.replies.size() == 1);
  bench.source->claim(1);
  CHECK(bench.worker(1).grabs == 1);  // no second request is sent
  bench.worker(0).wake();
  bench.worker(0).job("u1");
  REQUIRE(bench.replies.size() == 2);
  // A job that arrives late is kept for the next claim.
  bench.worker(1).job("late");
  CHECK(bench.may >= 1);
  bench.source->claim(1);
  bench.turn();
  REQUIRE(bench.claims.size() == 2);
  CHECK(bench.claims[1].item == "late");
}

TEST_CASE("gearman source: claims are unavailable, with a reason, while no server is connected") {
  Bench bench;
  bench.source->claim(1);
  bench.turn();
  REQUIRE(bench.replies.size() == 1);
  CHECK(bench.replies[0].end == ClaimEnd::unavailable);
  CHECK(bench.replies[0].detail == "a:1: not connected yet; b:2: not connected yet");
  bench.worker(0).down("refused");
  bench.worker(1).up();
  CHECK(bench.may >= 1);
  bench.source->claim(1);
  CHECK(bench.worker(1).requested() == 1);
  bench.worker(1).down("broken");
  REQUIRE(bench.replies.size() == 2);
  CHECK(bench.replies[1].detail == "a:1: refused; b:2: broken");
}

TEST_CASE("gearman source: a claim ends if a server that connects meanwhile does not reply") {
  Bench bench;
  bench.source->claim(1);
  bench.worker(0).up();
  CHECK(bench.worker(0).requested() == 1);
  bench.clock.set(bench.clock.now() + GearmanSource::patience);
  bench.turn();
  bench.turn();
  REQUIRE(bench.replies.size() == 1);
  CHECK(bench.replies[0].end == ClaimEnd::unavailable);
}

TEST_CASE(
    "gearman source: settlements are sent and confirmed, and an early completion is sent once") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(3);
  for (const char* unique : {"ok", "bad", "early"}) bench.worker(0).job(unique);
  REQUIRE(bench.claims.size() == 3);
  bench.source->announce({RunEvent::Kind::progress, bench.claims[0].run, "ok", {1.5, 4}, {}, 0});
  bench.source->announce({RunEvent::Kind::update, bench.claims[0].run, "ok", {}, "[1]", 0});
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  bench.source->settle(bench.ended(bench.claims[1], Failed{"broke"}));
  bench.source->completed(bench.claims[2], R"({"n":1})");
  bench.source->announce({RunEvent::Kind::update, bench.claims[2].run, "early", {}, "2", 0});
  bench.source->settle(bench.ended(bench.claims[2], Crashed{"exit 3"}));
  using gearman::PacketType;
  using gearman::request;
  CHECK(bench.worker(0).said == request(PacketType::work_status, {"H:ok", "1.5", "4"}) +
                                    request(PacketType::work_data, {"H:ok", "[1]"}) +
                                    request(PacketType::work_complete, {"H:ok", "{}"}) +
                                    request(PacketType::work_exception, {"H:bad", "broke\ntail"}) +
                                    request(PacketType::work_fail, {"H:bad"}) +
                                    request(PacketType::work_complete, {"H:early", R"({"n":1})"}));
  CHECK(bench.source->unsettled() == 3);
  CHECK(bench.records->entered.empty());
  bench.worker(0).confirm();
  CHECK(bench.source->unsettled() == 0);
  CHECK(bench.settled == 1);
  CHECK(bench.records->entered.size() == 3);
}

TEST_CASE("gearman source: a lost connection loses the leases of its unfinished jobs") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(3);
  for (const char* unique : {"runs", "told", "confirmed"}) bench.worker(0).job(unique);
  bench.source->completed(bench.claims[2], "{}");
  bench.worker(0).confirm();
  bench.source->settle(bench.ended(bench.claims[1], Succeeded{}));
  bench.worker(0).down();
  // A job whose completion the server had confirmed is not lost.
  CHECK(bench.lost == std::vector<RunId>{bench.claims[0].run});
  CHECK_FALSE(bench.source->may_start(bench.claims[0]));
  REQUIRE(bench.records->entered.size() == 1);
  CHECK(std::holds_alternative<Lost>(bench.records->entered[0].outcome));
  CHECK(bench.source->unsettled() == 0);
  bench.worker(0).up();
  const std::string before = bench.worker(0).said;
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  bench.source->settle(bench.ended(bench.claims[2], Succeeded{}));
  CHECK(bench.worker(0).said == before);
  REQUIRE(bench.records->entered.size() == 3);
  CHECK(std::holds_alternative<Lost>(bench.records->entered[1].outcome));
  CHECK(std::holds_alternative<Succeeded>(bench.records->entered[2].outcome));
}

TEST_CASE("gearman source: a job is handed back by closing its connection") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(2);
  bench.worker(0).job("unwanted");
  bench.worker(0).job("runs");
  bench.source->hand_back(bench.claims[0]);
  // A new connection replaces the old one at once. The old one closes after its other job.
  REQUIRE(bench.servers.workers.size() == 2);
  bench.worker(1).up();
  bench.source->claim(1);
  CHECK(bench.worker(0).requested() == 0);
  CHECK(bench.worker(1).requested() == 1);
  bench.worker(1).job("next");
  // A job that this host stopped for a reason of its own is handed back as well.
  bench.source->settle(bench.ended(bench.claims[2], Cancelled{}));
  CHECK(bench.servers.workers.size() == 3);
  CHECK(bench.worker(1).said.empty());
  bench.source->settle(bench.ended(bench.claims[1], Cancelled{true, false}));
  CHECK(bench.worker(0).said.find("H:runs") != std::string::npos);
  bench.worker(0).confirm();
  std::vector<GearmanStatus> status(1);
  status[0].server = "a:1";
  bench.servers.user->add_to(status);
  CHECK(status[0].jobs == 0);
  CHECK(status[0].lists == 1);
}

TEST_CASE("gearman source: no function is offered while no job is needed") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.worker(0).no_job();
  bench.source->stop_waiting();
  CHECK(bench.worker(0).offered.empty());
  CHECK(bench.source->may_claim());
  bench.source->claim(1);
  CHECK(bench.worker(0).offered == "resize");
  bench.worker(0).job("u");
  CHECK(bench.claims.size() == 1);

  // gearmand would treat a withdrawn function as a job that is handed back.
  bench.records->set_pause("new disks");
  CHECK(bench.worker(0).offered == "resize");
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  CHECK(bench.worker(0).offered == "resize");
  bench.worker(0).confirm();
  CHECK(bench.worker(0).offered.empty());
  bench.source->claim(1);
  bench.turn();
  CHECK(bench.replies.back().end == ClaimEnd::paused);
  CHECK(bench.replies.back().detail == "new disks");
  const std::size_t may = bench.may;
  bench.records->set_pause(std::nullopt);
  CHECK(bench.may == may + 1);
}

TEST_CASE("gearman source: the first request waits until the pause is known") {
  Bench bench({{"a", 1}});
  bench.records->known = false;
  bench.all_up();
  bench.source->claim(1);
  bench.turn();
  CHECK(bench.worker(0).grabs == 0);
  bench.records->set_pause(std::nullopt);
  CHECK(bench.worker(0).grabs == 1);
}

TEST_CASE("gearman source: a job with a workload that is too long fails and uses no slot") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.worker(0).job("long", true);
  CHECK(bench.worker(0).said.find("16 MiB") != std::string::npos);
  CHECK(bench.servers.notes.size() == 1);
  CHECK(bench.worker(0).requested() == 1);
  bench.worker(0).job("fits");
  CHECK(bench.claims.size() == 1);
}

TEST_CASE("gearman source: a job that is too long and arrives late allows another claim") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.clock.set(bench.clock.now() + GearmanSource::patience);
  bench.turn();
  REQUIRE(bench.replies.size() == 1);
  REQUIRE_FALSE(bench.source->may_claim());
  bench.worker(0).job("long", true);
  CHECK(bench.may == 1);
  CHECK(bench.source->may_claim());
}

TEST_CASE(
    "gearman source: a connection with jobs of the old function keeps it, and a new one opens") {
  Bench bench;
  bench.all_up();
  bench.source->claim(2);
  bench.worker(0).job("u");
  bench.worker(1).no_job();
  bench.worker(0).no_job();
  ListConfig other = *bench.rule;
  other.gearman().function = "other";
  bench.source->use(std::make_shared<const ListConfig>(other));
  bench.source->claim(1);
  CHECK(bench.worker(0).offered == "resize");
  CHECK(bench.worker(1).offered == "other");
  REQUIRE(bench.servers.workers.size() == 3);
  bench.worker(2).up();
  CHECK(bench.worker(2).offered == "other");
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  CHECK(bench.worker(0).said.find("H:u") != std::string::npos);
}

TEST_CASE("gearman source: a new function is offered before the next request") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.worker(0).job("u");
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  bench.worker(0).confirm();
  ListConfig other = *bench.rule;
  other.gearman().function = "other";
  bench.source->use(std::make_shared<const ListConfig>(other));
  CHECK(bench.worker(0).requested() == 0);
  CHECK(bench.worker(0).offered == "other");
}

TEST_CASE("gearman source: a claim that is no longer needed sends no more requests") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(2);
  const std::size_t grabs = bench.worker(0).grabs;
  bench.source->stop_waiting();
  bench.worker(0).no_job();
  bench.turn();
  CHECK(bench.worker(0).grabs == grabs);
  CHECK(bench.replies.size() == 1);
}

TEST_CASE("gearman source: new servers replace the old ones, and retiring ends all claims") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.worker(0).job("u");
  bench.servers.all = {{"c", 3}};
  bench.servers.user->on_servers();
  REQUIRE(bench.servers.workers.size() == 2);
  CHECK(bench.worker(1).server().host == "c");
  bench.worker(1).up();
  bench.source->claim(1);
  CHECK(bench.worker(1).requested() == 1);
  CHECK(bench.worker(0).requested() == 0);
  // The connection that is being replaced still sends the end of its job.
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  CHECK(bench.worker(0).said.find("H:u") != std::string::npos);
  bench.worker(0).confirm();
  bench.turn();

  bench.source->retire();
  bench.turn();
  CHECK(bench.replies.size() == 2);
  CHECK(bench.source->unsettled() == 0);
}

TEST_CASE("gearman source: packets after the last reply on a closing connection are ignored") {
  Bench bench({{"a", 1}});
  bench.all_up();
  bench.source->claim(1);
  bench.worker(0).job("u");
  bench.source->claim(3);
  const std::size_t asked = bench.worker(0).requested();
  REQUIRE(asked >= 2);
  bench.servers.all = {{"c", 3}};
  bench.servers.user->on_servers();
  bench.source->settle(bench.ended(bench.claims[0], Succeeded{}));
  // All packets arrive in one read: the connection is still in its callback.
  bench.worker(0).confirm();
  bench.worker(0).job("v");
  bench.worker(0).no_job();
  bench.worker(0).wake();
  bench.worker(0).confirm();
  bench.worker(0).down();
  bench.turn();
  CHECK(bench.claims.size() == 1);
  CHECK(bench.source->unsettled() == 0);
}

}  // namespace gearman_source_test
