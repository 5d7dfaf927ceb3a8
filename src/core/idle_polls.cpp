#include <algorithm>
#include <functional>

#include <w8y/idle_polls.hpp>

namespace w8y {

namespace {

constexpr double microseconds_per_second = 1e6;

/// xorshift64*: spread, not secrecy.
std::uint64_t next_random(std::uint64_t& state) {
  state ^= state >> 12U;
  state ^= state << 25U;
  state ^= state >> 27U;
  return state * 0x2545F4914F6CDD1DULL;
}

}  // namespace

IdlePolls::IdlePolls(TimerQueue& timers, const Clock& clock, unsigned per_second,
                     std::uint64_t seed)
    : timers_(timers),
      clock_(clock),
      per_second_(std::max(per_second, 1U)),
      tokens_(per_second_),
      filled_(clock.now()),
      random_(seed | 1U),
      offbeat_(static_cast<Duration::rep>(next_random(random_) % beat.count())),
      debts_paid_(filled_),
      timer_(timers_),
      back_timer_(timers_) {}

void IdlePolls::set_budget(unsigned per_second) {
  refill();
  per_second_ = std::max(per_second, 1U);
}

void IdlePolls::Sleeper::sleep(const Terms& terms) {
  wake();
  const Instant now = polls_.clock_.now();
  cost_ = terms.cost;
  polls_.load_ += cost_;
  Instant turn = now + polls_.pause(terms.patience);
  if (!shares()) turn = std::max(turn, not_before_);
  due_ = polls_.on_the_beat(turn);
  hinted_ = terms.hint && now + *terms.hint < due_;
  if (hinted_) due_ = now + std::max(*terms.hint, Duration(1000));
  polls_.add(*this);
  polls_.arm();
}

void IdlePolls::Sleeper::wake() {
  if (place_ != awake) polls_.remove(*this);
}

IdlePolls::Sleeper::~Sleeper() {
  wake();
  std::erase(polls_.back_, this);
  been_back();
}

void IdlePolls::add(Sleeper& sleeper) {
  Due& due = due_[sleeper.due_];
  due.sorted = due.sleepers.empty();
  sleeper.place_ = static_cast<std::uint32_t>(due.sleepers.size());
  due.sleepers.push_back(&sleeper);
  ++sleepers_;
}

void IdlePolls::remove(Sleeper& sleeper) {
  const auto found = due_.find(sleeper.due_);
  Due& due = found->second;
  if (due.sleepers.back() != &sleeper) {
    due.sorted = false;
    due.sleepers.back()->place_ = sleeper.place_;
    due.sleepers[sleeper.place_] = due.sleepers.back();
  }
  due.sleepers.back() = &sleeper;
  remove_last(found);
}

void IdlePolls::remove_last(std::map<Instant, Due>::iterator due) {
  Sleeper& sleeper = *due->second.sleepers.back();
  due->second.sleepers.pop_back();
  if (due->second.sleepers.empty()) due_.erase(due);
  sleeper.place_ = awake;
  load_ -= sleeper.cost_;
  --sleepers_;
}

/// Each is looked at once, for they are wherever their lists are.
void IdlePolls::sort(Due& due) {
  order_.clear();
  for (Sleeper* sleeper : due.sleepers) order_.emplace_back(sleeper->number_, sleeper);
  std::sort(order_.begin(), order_.end(), std::greater<>());
  for (std::uint32_t place = 0; place < order_.size(); ++place) {
    due.sleepers[place] = order_[place].second;
    due.sleepers[place]->place_ = place;
  }
  due.sorted = true;
}

/// The next of those that are due first.
IdlePolls::Sleeper& IdlePolls::take_due() {
  const auto due = due_.begin();
  if (!due->second.sorted) sort(due->second);
  Sleeper& sleeper = *due->second.sleepers.back();
  remove_last(due);
  return sleeper;
}

bool IdlePolls::Sleeper::pay() {
  polls_.refill();
  if (polls_.tokens_ < 1) return false;
  polls_.tokens_ -= 1;
  return true;
}

Duration IdlePolls::Sleeper::spread(Duration below) {
  return Duration(
      static_cast<Duration::rep>(static_cast<double>(below.count()) * polls_.random_part()));
}

// ---- all at once

void IdlePolls::Sleeper::come_back() {
  if (back_ == Back::waiting) return;
  been_back();
  back_ = Back::waiting;
  polls_.back_.push_back(this);
  polls_.let_back();
}

bool IdlePolls::Sleeper::come_in() {
  if (back_ == Back::at_it) return true;
  if (back_ == Back::no && polls_.back_.empty() && polls_.backs_out_ < polls_.backs_at_once_) {
    polls_.let_in(*this);
    return true;
  }
  come_back();
  return false;
}

void IdlePolls::Sleeper::been_back() {
  if (back_ != Back::at_it) return;
  back_ = Back::no;
  --polls_.backs_out_;
  polls_.note_back(*this);
  polls_.let_back();
}

void IdlePolls::let_in(Sleeper& sleeper) {
  sleeper.back_ = Sleeper::Back::at_it;
  ++backs_out_;
  if (timed_ != nullptr) return;
  timed_ = &sleeper;
  timed_since_ = clock_.now();
}

void IdlePolls::note_back(const Sleeper& sleeper) {
  if (timed_ == &sleeper) {
    timed_ = nullptr;
    const Duration took = clock_.now() - timed_since_;
    if (took <= soon_back) backs_at_once_ = std::min(backs_at_once_ * 2, most_back);
    if (took >= late_back) backs_at_once_ = std::max(backs_at_once_ / 2, least_back);
  }
  if (backs_out_ == 0 && back_.empty()) backs_at_once_ = least_back;
}

/// From the loop: who is let in may be inside a call of its own.
void IdlePolls::let_back() {
  if (back_.empty() || backs_out_ >= backs_at_once_ || back_timer_.pending()) return;
  back_timer_.set(clock_.now(), [this] {
    while (!back_.empty() && backs_out_ < backs_at_once_) {
      Sleeper* sleeper = back_.front();
      back_.pop_front();
      let_in(*sleeper);
      sleeper->back_due();
    }
  });
}

// ---- the budget

Duration IdlePolls::Sleeper::time_for(double commands) const {
  const double seconds = commands / (polls_.per_second_ / 2);
  const Duration time(static_cast<Duration::rep>(seconds * microseconds_per_second));
  return std::min(time, longest_debt);
}

void IdlePolls::Sleeper::owe(double commands) {
  const Instant now = polls_.clock_.now();
  const Instant paid = std::max(polls_.debts_paid_, now) + time_for(commands);
  polls_.debts_paid_ = std::min(paid, now + longest_debt);
  not_before_ = polls_.debts_paid_;
}

/// What the budget gives each sleeper.
Duration IdlePolls::fair_pause() const {
  const auto sleepers = static_cast<double>(sleepers_ + 1);
  const double fair = std::max(load_ / (per_second_ * planned), sleepers / looks_per_second);
  return std::max(Duration(static_cast<Duration::rep>(fair * microseconds_per_second)),
                  Duration(shortest_pause));
}

/// Three quarters to five quarters of that.
Duration IdlePolls::pause(unsigned patience) {
  const double base = patience * static_cast<double>(fair_pause().count());
  return Duration(static_cast<Duration::rep>(base * (0.75 + 0.5 * random_part())));
}

Duration IdlePolls::longest_turn() const {
  return fair_pause() * 5 / 4 + beat;
}

double IdlePolls::random_part() {
  return static_cast<double>(next_random(random_) >> 11U) / 9007199254740992.0;
}

/// The next one.
Instant IdlePolls::on_the_beat(Instant at) const {
  const auto passed = (at.time_since_epoch() + offbeat_) % beat;
  return passed == Duration{0} ? at : at + (beat - passed);
}

void IdlePolls::refill() {
  const Instant now = clock_.now();
  const auto passed = static_cast<double>((now - filled_).count()) / microseconds_per_second;
  filled_ = now;
  // Ten thousand lists that change at once cost as many claims: they are not silent for minutes.
  const double least = -per_second_ * std::chrono::duration<double>(longest_debt).count();
  // At most one second's worth.
  tokens_ = std::min(std::max(tokens_, least) + passed * per_second_, per_second_);
}

void IdlePolls::arm() {
  if (due_.empty()) {
    timer_.cancel();
    return;
  }
  Instant at = due_.begin()->first;
  if (tokens_ < 1) {
    const double wait = (1 - tokens_) / per_second_ * microseconds_per_second;
    at = std::max(at, filled_ + Duration(static_cast<Duration::rep>(wait) + 1));
  }
  if (timer_.deadline() != at) timer_.set(at, [this] { run(); });
}

void IdlePolls::run() {
  refill();
  const Instant now = clock_.now();
  // Who shares goes with everybody who is due: a command for a few would cost as much. A hint is
  // followed by a command of its own.
  while (tokens_ >= 1 && !due_.empty() && due_.begin()->first <= now) {
    Sleeper& sleeper = take_due();
    const double price = sleeper.shares() && !sleeper.hinted_ ? 0 : 1;
    tokens_ -= price;
    sleeper.poll_due(sleeper.hinted_, price);
  }
  arm();
}

}  // namespace w8y
