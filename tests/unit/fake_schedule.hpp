// Fake queues and timeline of a schedule, without a server.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "fakes.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::test {

class FakeSchedule : public store::ScheduleQueue {
 public:
  FakeSchedule(FakeClock& clock, TimerQueue& timers, store::ScheduleQueueHandler& told)
      : handler(told), clock_(clock), answer_(timers) {}

  void use(ListConfigPtr) override {}
  void claim(std::size_t wanted) override {
    ++claim_calls;
    ClaimReply reply;
    reply.end = halted ? ClaimEnd::halted : ClaimEnd::more;
    while (!halted && !jobs.empty() && reply.claims.size() < wanted) {
      reply.claims.push_back(Claim{"run" + std::to_string(++runs), jobs.front(), {}, 1, 1});
      jobs.pop_front();
    }
    if (!halted && reply.claims.size() < wanted) reply.end = ClaimEnd::empty;
    answer_.set(clock_.now() + std::chrono::milliseconds(1),
                [this, reply]() mutable { handler.on_claimed(std::move(reply)); });
  }
  /// Dispatch requests of several fakes that are in flight at the same time.
  struct Out {
    std::size_t now = 0;
    std::size_t* most = nullptr;
    std::size_t replied = 0;
  };
  void dispatch() override {
    ++peeks;
    if (out != nullptr) *out->most = std::max(*out->most, ++out->now);
    store::DispatchAnswer answer;
    answer.why = error;
    answer.trouble = error.empty() ? ClaimEnd::more : ClaimEnd::refused;
    if (error.empty()) answer.reply = dispatched();
    answer_.set(clock_.now() + reply_delay, [this, answer]() mutable {
      if (out != nullptr) {
        --out->now;
        ++out->replied;
      }
      handler.on_dispatched(std::move(answer));
    });
  }
  void recover() override {
    ++recovers;
    answer_.set(clock_.now(), [this] { handler.on_recovered(0, next_over); });
  }
  [[nodiscard]] bool hears() const override { return false; }
  double track() override { return 0; }
  double listen_to_timeline() override {
    listen(true);
    return 0;
  }
  void listen(bool on) override {
    subscribed += on && !listening ? 1 : 0;
    listening = on;
  }
  void settle(store::JobSettlement&& end) override { ends.push_back(std::move(end)); }
  void hand_back(const Claim& claim) override { jobs.push_front(claim.item); }
  [[nodiscard]] bool may_start(const Claim&) const override { return true; }
  void announce(const RunEvent&) override {}
  [[nodiscard]] std::size_t unsettled() const override { return 0; }

  void put_on_timeline(Duration in, bool told = true) {
    due.insert(clock_.now() + in);
    if (told) handler.on_news(store::ScheduleNews::timeline);
  }
  /// Adds a job as another program does. Redis reports it.
  void change_timeline(Duration in) {
    due.insert(clock_.now() + in);
    handler.on_news(store::ScheduleNews::changed);
  }

  store::ScheduleQueueHandler& handler;
  bool halted = false;
  bool listening = false;
  int subscribed = 0;  ///< number of subscriptions
  std::string error;
  // queues
  std::deque<Item> jobs;
  std::vector<store::JobSettlement> ends;
  std::size_t claim_calls = 0;
  unsigned runs = 0;
  // timeline
  std::multiset<Instant> due;
  std::vector<Duration> late;
  std::optional<Duration> next_over;
  std::size_t peeks = 0;
  std::size_t recovers = 0;
  Duration reply_delay{0};
  Out* out = nullptr;

 private:
  store::DispatchReply dispatched() {
    using std::chrono::milliseconds;
    store::DispatchReply reply;
    reply.halted = halted;
    reply.now = std::chrono::duration_cast<milliseconds>(clock_.now().time_since_epoch());
    while (!halted && !due.empty() && *due.begin() <= clock_.now() && reply.taken_off < 256) {
      late.push_back(clock_.now() - *due.begin());
      due.erase(due.begin());
      ++reply.taken_off;
    }
    if (halted || due.empty()) return reply;
    reply.more = *due.begin() <= clock_.now();
    reply.next_due =
        std::chrono::ceil<milliseconds>(std::max(*due.begin() - clock_.now(), Duration{0}));
    return reply;
  }

  FakeClock& clock_;
  Timer answer_;
};

}  // namespace w8y::test
