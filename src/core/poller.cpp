#include "core/poller.hpp"

#include <algorithm>
#include <variant>

namespace w8y {

namespace {

/// One visitor for all outcomes, so that a new outcome does not compile without a counter.
struct Count {
  RunCounters& counters;
  void operator()(const Succeeded&) const { ++counters.succeeded; }
  void operator()(const Failed&) const { ++counters.failed; }
  void operator()(const Crashed&) const { ++counters.crashed; }
  void operator()(const TimedOut&) const { ++counters.timed_out; }
  void operator()(const Cancelled&) const { ++counters.cancelled; }
  void operator()(const Lost&) const { ++counters.lost; }
};

}  // namespace

Poller::Poller(const PollerHost& host, ListConfigPtr rule)
    : SlotPool::User(host.slots, rule->weight), host_(host), rule_(std::move(rule)) {}

Poller::~Poller() = default;

void Poller::begin(std::unique_ptr<Source> source, std::shared_ptr<Executor> executor) {
  source_ = std::move(source);
  if (executor) work().executor = std::move(executor);
  source_->use(rule_);
  advance();
}

void Poller::use(ListConfigPtr rule, std::shared_ptr<Executor> executor) {
  rule_ = std::move(rule);
  lacking_ = false;
  if (work_ && work_->executor) work_->executor->retire();
  if (work_ || executor) {
    work().executor = std::move(executor);
    work_->made_executor = false;
    ready();
  }
  set_weight(std::max(rule_->weight, 1U));
  source_->use(rule_);
  advance();
}

void Poller::set_quiet(bool quiet) {
  quiet_ = quiet;
  advance();
}

void Poller::set_reserved(std::size_t runs) {
  reserved_ = runs;
  advance();
}

void Poller::drain() {
  draining_ = true;
  if (work_ && work_->executor) work_->executor->retire();
  advance();
}

// ---- state that is created when the list becomes active

const Poller::Work& Poller::none() {
  static const Work at_rest;
  return at_rest;
}

Poller::Work& Poller::work() {
  if (!work_) work_ = std::make_unique<Work>(*this);
  return *work_;
}

Poller::Work& Poller::ready() {
  if (!work().executor) {
    work_->executor = host_.owner->executor_for(*this, rule_);
    work_->made_executor = true;
  }
  return *work_;
}

/// A poller that had a run may be inside a callback of this object, so it is not deleted.
bool Poller::Work::unused() const {
  const bool same_executor = !executor || (made_executor && executor->unused());
  return same_executor && runs.unused() && shortage.unused() && places() == 0 &&
         items_wanted.empty() && !ahead;
}

void Poller::free_working_state() {
  if (work_ && !claim_out_ && work_->unused()) work_.reset();
}

const Poller::Totals& Poller::past() const {
  static const Totals none;
  return past_ ? *past_ : none;
}

Poller::Totals& Poller::past() {
  if (!past_) past_ = std::make_unique<Totals>();
  return *past_;
}

// ---- the state

bool Poller::may_take() const {
  return !draining_ && !quiet_ && !lacking_ && rule_->enabled && rule_->concurrency > 0;
}

std::size_t Poller::limit() const {
  std::size_t limit = rule_->concurrency;
  if (work_ && work_->executor) limit = std::min(limit, work_->executor->capacity());
  return limit > reserved_ ? limit - reserved_ : 0;
}

std::size_t Poller::room() const {
  const std::size_t busy = work_ ? work_->runs.size() + work_->item_claims : 0;
  const std::size_t limit = this->limit();
  return limit > busy ? limit - busy : 0;
}

void Poller::advance() {
  if (state_ == PollerState::drained || source_ == nullptr) return;
  if (draining_) {
    want_none();
    return finish_draining();
  }
  if (!may_claim_now()) {
    want_none();
    set_state(may_take() ? PollerState::starved : PollerState::held);
    return free_working_state();
  }
  start_ahead();
  if (claim_out_) return set_state(PollerState::claiming);
  if (source_->may_claim()) return claim_now();
  set_state(PollerState::idle);
  free_working_state();
}

void Poller::want_none() {
  hand_back_ahead();
  leave_queue();
  source_->stop_waiting();
}

void Poller::claim_now() {
  Work& work = ready();
  std::size_t room = this->room();
  if (budget_ > 0) room = std::min<std::size_t>(room, budget_ > taken_ ? budget_ - taken_ : 0);
  room = work.shortage.room(room);
  const PrefetchCount most = work.shortage.any() ? PrefetchCount{} : prefetch_count(room);
  // Prefetch again only when at most half is left: fewer and larger claims.
  const bool few = this->ahead() * 2 <= most.waiting;
  const std::size_t ahead = few && most.claimed > this->ahead() ? most.claimed - this->ahead() : 0;
  if (ahead > 0) work.ahead->most = most.waiting;

  const std::size_t kept = std::exchange(work.next_places, 0);
  work.claim_places = std::min(kept, room);
  if (room > work.claim_places) {
    work.claim_places += acquire(room - work.claim_places);
  } else {
    leave_queue();
  }
  if (work.claim_places + ahead > 0) {
    claim_out_ = true;
    claimed_at_ = host_.clock.now();
    set_state(PollerState::claiming);
    source_->claim(work.claim_places + ahead);
  } else {
    set_state(room == 0 ? PollerState::full : PollerState::waiting);
  }
  if (kept > room) release(kept - room);
}

/// Keeps the slot for the next claim while a claim is in flight. Otherwise the list would lose its
/// turn and have less than its share.
void Poller::on_slot_free() {
  if (!claim_out_) return advance();
  const std::size_t taken = work_->places();
  if (may_claim_now() && !work_->shortage.any() && limit() > taken)
    work_->next_places += acquire(limit() - taken);
}

void Poller::set_state(PollerState state) {
  if (state == state_) return;
  state_ = state;
  if (host_.owner != nullptr && drained()) host_.owner->poller_changed(*this);
  host_.events.state_changed(*this);
}

void Poller::finish_draining() {
  source_->retire();
  const bool busy = claim_out_ || (work_ && work_->places() > 0);
  const bool done = !busy && source_->unsettled() == 0;
  set_state(done ? PollerState::drained : PollerState::draining);
}

// ---- callbacks of the source

void Poller::on_claimed(ClaimReply&& reply) {
  claim_out_ = false;
  claim_took_ = host_.clock.now() - claimed_at_;
  last_claim_ = reply.end;
  detail_ = std::move(reply.detail);
  if (reply.end == ClaimEnd::refused && past_) past_->unwritten.clear();  // part of that refusal
  Work& work = *work_;  // exists while a claim is in flight
  const auto wanted = std::exchange(work.items_wanted, {});
  std::size_t unused = std::exchange(work.claim_places, 0);
  // A slot that was kept for the next claim is released if there is no next claim.
  const bool rests = !may_claim_now() || reply.end != ClaimEnd::more;
  const std::size_t not_kept = rests ? std::exchange(work.next_places, 0) : 0;

  if (may_claim_now()) {
    const std::size_t running = work.runs.size();
    count_claim(reply);
    if (source_->frees_at_once()) hand_back_beyond(reply.claims, unused);
    if (!reply.claims.empty()) count().claimed += reply.claims.size();
    taken_ += static_cast<std::uint32_t>(reply.claims.size());
    const std::size_t starting = std::min({unused, reply.claims.size(), room()});
    unused -= starting;
    for (std::size_t i = 0; i < starting; ++i) {
      work.shortage.tried();
      work.runs.start(std::move(reply.claims[i]), rule_, work.executor);
    }
    keep_ahead(reply.claims, starting);
    start_ahead();
    work.placed = work.runs.size() - std::min(running, work.runs.size());
    if (source_->frees_at_once()) hand_back_ahead_beyond();
    if (rests && work.ahead && work.ahead->claims.empty()) work.ahead->claims.shrink_to_fit();
  } else {
    work.placed = 0;
    for (const Claim& claim : reply.claims) source_->hand_back(claim);
  }
  if (unused + not_kept > 0) release(unused + not_kept);
  for (const auto& [item, then] : wanted) run_item(item, then);
  advance();
}

/// Ignores write errors while claims are refused as well: they are not a separate problem, and may
/// not apply later.
void Poller::on_unwritten(const std::string& why) {
  if (why == unwritten() || (!why.empty() && last_claim_ == ClaimEnd::refused)) return;
  past().unwritten = why;
  host_.events.write_error_changed(*this);
}

/// Nothing is stored for a list that never had a run.
void Poller::count_claim(const ClaimReply& reply) {
  if (!past_ && reply.claims.empty()) return;
  const auto end = reply.claims.empty() ? static_cast<std::size_t>(reply.end) : 0;
  ++past().measures.claim_ends[end];
  past().measures.claims.add(claim_took_);
}

void Poller::on_lease_lost(const RunId& run) {
  if (work_) work_->runs.record_lease(run, true);
  const ActiveRun* active = runs().find(run);
  if (active == nullptr) {
    hand_back_ahead(run);
    return;
  }
  ++count().leases_lost;
  host_.events.lease_changed(*this, *active, true);
  if (active->rule->on_lease_loss == OnLeaseLoss::terminate)
    work_->runs.kill(run, StopReason::lease_lost);
}

void Poller::on_lease_back(const RunId& run) {
  if (work_) work_->runs.record_lease(run, false);
  if (const ActiveRun* active = runs().find(run)) host_.events.lease_changed(*this, *active, false);
}

void Poller::on_lease_expiring(const RunId& run) {
  if (hand_back_ahead(run)) return;
  const ActiveRun* active = runs().find(run);
  if (active != nullptr && active->rule->on_lease_loss == OnLeaseLoss::terminate)
    work_->runs.kill(run, StopReason::lease_lost);
}

// ---- callbacks of the runs

void Poller::run_started(const ActiveRun& run) {
  const bool held = work_->shortage.holds();
  work_->shortage.started();
  host_.events.run_started(*this, run);
  if (held) advance();
}

void Poller::run_message(const ActiveRun& run, const Message& message) {
  if (std::holds_alternative<BadLine>(message)) ++count().bad_lines;
  if (const auto* complete = std::get_if<Complete>(&message))
    source_->completed(run.claim, complete->result);
  host_.events.run_message(*this, run, message);
}

void Poller::run_logged(const ActiveRun& run, std::string_view line, bool cut) {
  host_.events.run_logged(*this, run, line, cut);
}

void Poller::run_event(const RunEvent& event) {
  source_->announce(event);
}

void Poller::process_changed(int pid, const ProcessEvent& news) {
  if (std::holds_alternative<ProcessBadLine>(news)) ++count().bad_lines;
  if (const auto* over = std::get_if<ProcessEnded>(&news)) count().used += over->used;
  host_.events.process_changed(*this, pid, news);
}

/// Handles the run as if the item had not been claimed: another host may have the prerequisite.
void Poller::not_started(const EndedRun& run, const NotStarted& why) {
  --count().claimed;
  ++past().measures.not_started[why.host_is_short ? 0 : 1];
  past().last_problem = why.reason;
  past().last_problem_at = run.ended;
  bool short_now = false;
  bool lacking_now = false;
  if (why.host_is_short) {
    short_now = work_->shortage.begin(why.reason);
  } else {
    work_->shortage.untold();
    // A run of an earlier list config has no effect on this one.
    lacking_now = run.rule == rule_ && !std::exchange(lacking_, true);
  }
  source_->hand_back(run.claim);
  if (short_now) host_.events.shortage_changed(*this);
  if (lacking_now && host_.owner != nullptr) host_.owner->host_lacks(*this, why.reason);
  release(1);
  advance();
}

void Poller::run_over(EndedRun&& run, Duration took) {
  if (const auto* unstarted = std::get_if<NotStarted>(&run.end.process)) {
    // The one-item wrapper exits with the reason; it does not retry.
    if ((unstarted->host_is_short || unstarted->host_lacks) && run.rule->supervised)
      return not_started(run, *unstarted);
    ++past().measures.not_started[2];
    work_->shortage.untold();
  } else if (std::holds_alternative<Unanswered>(run.end.process)) {
    work_->shortage.untold();  // it may not have started
  }
  std::visit(Count{count()}, run.outcome);
  count().used += run.end.used;
  past().measures.runs.add(took);
  if (std::holds_alternative<Succeeded>(run.outcome))
    past().measures.last_success = std::max(past().measures.last_success, run.ended);
  if (std::string reason = outcome_reason(run.outcome); !reason.empty()) {
    past().last_problem = std::move(reason);
    past().last_problem_at = run.ended;
  }
  record_run_time(took);
  host_.events.run_ended(*this, run);
  if (host_.owner != nullptr) host_.owner->poller_changed(*this);
  // A prefetched item starts first; the settlement follows while it runs.
  const bool next_waits = ahead() > 0 && may_take();
  if (next_waits) {
    release(1);
    start_ahead();
  }
  // Settle before the next claim: both are sent in one write, and the claim can then find the item
  // free.
  keep_ended(run);
  source_->settle(std::move(run));
  if (!next_waits) release(1);
  advance();
}

/// Settlements are usually confirmed in their order.
void Poller::keep_ended(const EndedRun& run) {
  std::list<RunStatus>& kept = past().settling;
  while (kept.size() > unsettled()) kept.pop_front();
  RunStatus& shown = kept.emplace_back();
  shown.run = run.claim.run;
  shown.item = run.claim.item;
  shown.started = run.started;
  shown.attempt = run.claim.attempt;
  shown.fence = run.claim.fence;
  shown.state = RunStatus::State::settling;
}

std::vector<RunStatus> Poller::settling() const {
  const std::list<RunStatus>& kept = past().settling;
  const std::size_t settled = kept.size() - std::min(kept.size(), unsettled());
  return {std::next(kept.begin(), static_cast<std::ptrdiff_t>(settled)), kept.end()};
}

void Poller::on_all_settled() {
  if (past_) past_->settling.clear();
  advance();
}

}  // namespace w8y
