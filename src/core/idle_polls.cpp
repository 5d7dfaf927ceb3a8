#include "core/idle_polls.hpp"

#include <algorithm>

namespace w8y {

namespace {

constexpr double microseconds_per_second = 1e6;

/// xorshift64*: for jitter, not for security.
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
      reviewed_at_(filled_),
      random_(seed | 1U),
      offbeat_(static_cast<Duration::rep>(next_random(random_) % beat_if_reported.count())),
      debts_timer_(timers_),
      timer_(timers_),
      back_timer_(timers_) {}

void IdlePolls::set_budget(unsigned per_second) {
  refill();
  per_second_ = std::max(per_second, 1U);
  await_debts();
}

void IdlePolls::share_with(std::size_t hosts) {
  hosts_ = std::max<std::size_t>(hosts, 1);
  looks_ = std::min(polls_per_second, polls_of_fleet / static_cast<double>(hosts_));
}

void IdlePolls::Sleeper::sleep(const Terms& terms) {
  wake();
  const Instant now = polls_.clock_.now();
  cost_ = terms.cost;
  patience_ = static_cast<std::uint8_t>(
      terms.reported ? factor_if_reported : std::clamp(terms.patience, 1U, most_patience));
  polls_.count(*this, 1);
  Duration pause = polls_.pause(*this);
  polls_.count(*this, -1);
  if (apart_) pause = spread(pause);
  apart_ = false;
  const Instant turn = next_turn(pause);
  const bool owes = debt_ && !shares();
  if (owes) debt_->turn = turn;
  hint_shares_ = terms.hint_shares;
  hinted_ = terms.hint && (owes || now + *terms.hint < turn);
  if (owes && !hinted_) return;
  due_ = !hinted_                    ? turn
         : *terms.hint > Duration{0} ? now + std::max(*terms.hint, Duration(1000))
                                     : now - hint_lead;
  polls_.add(*this);
  polls_.arm();
}

void IdlePolls::Sleeper::wake() {
  if (debt_) debt_->turn.reset();
  if (place_ != awake) polls_.remove(*this);
}

IdlePolls::Sleeper::~Sleeper() {
  wake();
  if (debt_) polls_.extract_debt(*this);
  std::erase(polls_.back_, this);
  been_back();
}

Instant IdlePolls::Sleeper::next_turn(Duration pause) const {
  return polls_.on_the_beat(polls_.clock_.now() + pause, reported() ? beat_if_reported : beat);
}

void IdlePolls::count(const Sleeper& sleeper, int sleepers) {
  sleepers_ += sleepers * sleeper.weight();
  load_ += sleepers * sleeper.weight() * sleeper.cost_;
  if (sleeper.reported()) reported_ += sleepers;
}

void IdlePolls::add(Sleeper& sleeper) {
  Due& due = due_[sleeper.due_];
  due.sorted = due.sleepers.empty();
  sleeper.place_ = static_cast<std::uint32_t>(due.sleepers.size());
  due.sleepers.push_back(&sleeper);
  count(sleeper, 1);
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
  count(sleeper, -1);
}

void IdlePolls::sort(Due& due) {
  std::sort(due.sleepers.begin(), due.sleepers.end(),
            [](const Sleeper* a, const Sleeper* b) { return a->number_ > b->number_; });
  for (std::uint32_t place = 0; place < due.sleepers.size(); ++place)
    due.sleepers[place]->place_ = place;
  due.sorted = true;
}

/// Removes and returns the next of the sleepers that are due first.
IdlePolls::Sleeper& IdlePolls::extract_due() {
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

bool IdlePolls::Sleeper::has_spare() {
  polls_.refill();
  return polls_.tokens_ >= polls_.per_second_ / 2 + 1;
}

bool IdlePolls::Sleeper::pay_from_spare() {
  if (!has_spare()) return false;
  polls_.tokens_ -= 1;
  return true;
}

Duration IdlePolls::Sleeper::spread(Duration below) {
  return Duration(
      static_cast<Duration::rep>(static_cast<double>(below.count()) * polls_.random_part()));
}

// ---- the budget

Duration IdlePolls::Sleeper::time_for(double commands) const {
  const double seconds = commands / (polls_.per_second_ / 2);
  const Duration time(static_cast<Duration::rep>(seconds * microseconds_per_second));
  return std::min(time, longest_debt);
}

void IdlePolls::Sleeper::owe(double commands) {
  polls_.refill();
  std::unique_ptr<Debt> debt = debt_ ? polls_.extract_debt(*this) : nullptr;
  if (!debt)
    debt = std::make_unique<Debt>(Debt{polls_.paid_each_, polls_.clock_.now() + longest_debt, {}});
  // A larger deficit would be cancelled before it reaches zero.
  const double most = polls_.per_second_ / 2 * std::chrono::duration<double>(longest_debt).count();
  debt->paid_at = std::min(debt->paid_at + commands, polls_.paid_each_ + most);
  debt_ = std::move(debt);
  polls_.record_debt(*this);
  polls_.await_debts();
}

bool IdlePolls::Sleeper::owes() const {
  polls_.refill();
  return debt_ != nullptr;
}

void IdlePolls::Sleeper::charge_pass(double commands) {
  const double at_once = std::min({commands, most_at_once, polls_.per_second_ / 2});
  charge(at_once);
  if (commands > at_once) owe(commands - at_once);
}

void IdlePolls::record_debt(Sleeper& sleeper) {
  by_payment_.emplace(std::pair(sleeper.debt_->paid_at, sleeper.number_), &sleeper);
  by_forgiving_.emplace(std::pair(sleeper.debt_->forgiven_at, sleeper.number_), &sleeper);
}

std::unique_ptr<IdlePolls::Sleeper::Debt> IdlePolls::extract_debt(Sleeper& sleeper) {
  by_payment_.erase({sleeper.debt_->paid_at, sleeper.number_});
  by_forgiving_.erase({sleeper.debt_->forgiven_at, sleeper.number_});
  return std::move(sleeper.debt_);
}

/// If the sleeper sleeps, schedules its poll, unless its hint is earlier.
void IdlePolls::end_debt(Sleeper& sleeper) {
  const std::unique_ptr<Sleeper::Debt> debt = extract_debt(sleeper);
  if (!debt->turn) return;
  const Instant turn = std::max(*debt->turn, on_the_beat(clock_.now()));
  if (sleeper.place_ != awake) {
    if (sleeper.due_ <= turn) return;
    remove(sleeper);
  }
  sleeper.due_ = turn;
  sleeper.hinted_ = false;
  add(sleeper);
  arm();
}

/// Returns the part of the budget per second for sleepers without a deficit.
double IdlePolls::left_a_second() const {
  return by_payment_.empty() ? per_second_ : per_second_ / 2;
}

/// Returns the time until all deficits together have been reduced by `commands`: at half of the
/// budget, and at the whole budget once the other half is unused.
double IdlePolls::seconds_to_pay(double commands) const {
  const double half = per_second_ / 2;
  const double unused_after = (per_second_ - tokens_) / half;
  const double seconds = commands / half;
  return seconds <= unused_after ? seconds : unused_after + (seconds - unused_after) / 2;
}

/// The inverse function: returns the commands by which deficits are reduced in `seconds`.
double IdlePolls::pay_debts(double seconds) {
  const double half = per_second_ / 2;
  const double kept = std::min(seconds * half, per_second_ - tokens_);
  tokens_ += kept;
  return 2 * seconds * half - kept;
}

/// Adds the budget since the last call. Deficits are reduced in equal parts, so a smaller remaining
/// deficit ends first. A new deficit changes the times at which others end, but not their order.
void IdlePolls::refill() {
  const Instant now = clock_.now();
  double passed = static_cast<double>((now - filled_).count()) / microseconds_per_second;
  filled_ = now;
  // The deficit of the budget is limited. If ten thousand lists change at once, that costs as many
  // claims, but must not stop all polls for minutes.
  tokens_ = std::max(tokens_, -per_second_ * std::chrono::duration<double>(longest_debt).count());
  while (!by_payment_.empty()) {
    const auto [rank, sleeper] = *by_payment_.begin();
    const auto debtors = static_cast<double>(by_payment_.size());
    const double left = seconds_to_pay((rank.first - paid_each_) * debtors);
    if (left > passed) {
      paid_each_ += pay_debts(passed) / debtors;
      passed = 0;
      break;
    }
    pay_debts(left);
    passed -= left;
    paid_each_ = rank.first;
    end_debt(*sleeper);
  }
  while (!by_forgiving_.empty() && by_forgiving_.begin()->first.first <= now)
    end_debt(*by_forgiving_.begin()->second);
  if (by_payment_.empty()) paid_each_ = 0;
  // At most the budget of one second.
  tokens_ = std::min(tokens_ + passed * per_second_, per_second_);
}

void IdlePolls::await_debts() {
  if (by_payment_.empty()) return debts_timer_.cancel();
  const double left =
      (by_payment_.begin()->first.first - paid_each_) * static_cast<double>(by_payment_.size());
  const double seconds = seconds_to_pay(left) * microseconds_per_second;
  const Instant paid = filled_ + Duration(static_cast<Duration::rep>(seconds) + 1);
  const Instant at = std::min(paid, by_forgiving_.begin()->first.first);
  if (debts_timer_.deadline() == at) return;
  debts_timer_.set(at, [this] {
    refill();
    await_debts();
  });
}

/// Returns the interval between polls of one sleeper that the budget allows.
Duration IdlePolls::fair_pause() const {
  const double fair = std::max(load_ / (left_a_second() * planned), sleepers_ / looks_);
  return std::max(Duration(static_cast<Duration::rep>(fair * microseconds_per_second)),
                  Duration(shortest_pause));
}

/// Adds jitter of one eighth: hosts and lists that started together diverge after some polls, and
/// no list waits much longer than another.
Duration IdlePolls::pause(const Sleeper& sleeper) {
  const Duration fair = fair_pause();
  planned_by_ = std::max(planned_by_, fair);
  Duration base = fair * sleeper.patience_;
  if (sleeper.reported()) {
    const Duration for_all(
        static_cast<Duration::rep>(reported_ / looks_ * microseconds_per_second));
    base = std::max({pause_if_reported, fair * most_patience, for_all});
  }
  return Duration(static_cast<Duration::rep>(static_cast<double>(base.count()) *
                                             (0.875 + 0.25 * random_part())));
}

Duration IdlePolls::longest_turn() const {
  return fair_pause() * 9 / 8 + beat;
}

double IdlePolls::random_part() {
  return static_cast<double>(next_random(random_) >> 11U) / 9007199254740992.0;
}

/// Returns the next time on the grid.
Instant IdlePolls::on_the_beat(Instant at, Duration grid) const {
  const auto passed = (at.time_since_epoch() + offbeat_) % grid;
  return passed == Duration{0} ? at : at + (grid - passed);
}

void IdlePolls::arm() {
  if (due_.empty()) {
    timer_.cancel();
    return;
  }
  Instant at = due_.begin()->first;
  if (tokens_ < 1) {
    const double wait = (1 - tokens_) / left_a_second() * microseconds_per_second;
    at = std::max(at, filled_ + Duration(static_cast<Duration::rep>(wait) + 1));
  }
  at = std::min(at, reviewed_at_ + review);
  if (timer_.deadline() != at) timer_.set(at, [this] { run(); });
}

/// A poll is planned with the load at the time of sleep(). If ten thousand lists need a command of
/// their own for a moment, their polls are planned minutes later, although the load is low by then.
bool IdlePolls::worth_review(Instant now) const {
  const Duration since = now - reviewed_at_;
  return since >= review || (since >= early_review && planned_by_ > 2 * fair_pause());
}

/// Plans late polls again. Examining all polls is expensive, so this is done only at intervals.
void IdlePolls::review_turns(Instant now) {
  reviewed_at_ = now;
  const Duration longest = longest_turn();
  if (planned_by_ <= longest) return;
  std::vector<Sleeper*> late;
  for (auto due = due_.upper_bound(on_the_beat(now + longest)); due != due_.end(); ++due)
    for (Sleeper* sleeper : due->second.sleepers)
      if (!sleeper->hinted_ && due->first > on_the_beat(now + sleeper->patience_ * longest))
        late.push_back(sleeper);
  planned_by_ = fair_pause();
  for (Sleeper* sleeper : late) {
    remove(*sleeper);
    sleeper->due_ = sleeper->next_turn(pause(*sleeper));
    add(*sleeper);
  }
}

void IdlePolls::run() {
  refill();
  const Instant now = clock_.now();
  if (worth_review(now)) review_turns(now);
  // A sleeper that shares its command is polled together with all others that are due, because a
  // command for some of them costs the same. A poll with a hint usually has its own command.
  while (tokens_ >= 1 && !due_.empty() && due_.begin()->first <= now) {
    Sleeper& sleeper = extract_due();
    const double price = sleeper.price();
    tokens_ -= price;
    sleeper.poll_due(sleeper.hinted_, price);
  }
  arm();
}

}  // namespace w8y
