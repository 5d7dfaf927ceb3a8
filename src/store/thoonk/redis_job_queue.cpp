#include "store/thoonk/redis_job_queue.hpp"

#include <algorithm>
#include <utility>

#include "store/breaker.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store::thoonk {

namespace {

/// Maximum of unsent bytes up to which events of runs are published.
constexpr std::size_t most_unsent = std::size_t{1} << 20;
/// Sets the effect of a settlement, except "hold".
struct Effect {
  EndCall& end;
  void operator()(const Finish& finish) const {
    end.effect = "finish";
    end.result = finish.result;
  }
  void operator()(const Cancel& cancel) const {
    end.effect = "cancel";
    end.hold = cancel.after;
  }
  void operator()(const Stall& stall) const {
    end.effect = "stall";
    if (!end.breaker_limits.empty()) end.hold = stall.instead;
  }
  void operator()(const Requeue&) const { end.effect = "requeue"; }
  void operator()(const PutBack&) const { end.effect = "back"; }
  void operator()(const Leave&) const { end.effect = "leave"; }
};

}  // namespace

RedisJobQueue::RedisJobQueue(std::shared_ptr<RedisSession> session, JobQueueHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      claimer_(*session_, memory_, *this, handler_),
      cancel_timer_(session_->timers),
      ends_(*session_, told_of_ends()),
      late_ends_(*session_, told_of_ends()),
      ids_(session_->circular.look_batcher, [this] { handler_.on_added(); }),
      later_(session_->clock, session_->timers) {}

RedisJobQueue::~RedisJobQueue() = default;

RedisJobQueue::Ends::Handler RedisJobQueue::told_of_ends() {
  return {[this] { tell_if_settled(); },
          [this](const RunId& run, const std::string& why) {
            later_.add([this, run, why] { handler_.on_given_up(run, why); });
          },
          [this](const std::string& refused) {
            handler_.on_unwritten(refused.empty() ? refused : missing_right(refused));
          }};
}

void RedisJobQueue::use(ListConfigPtr rule) {
  const bool same = rule_ && rule_->prefix == rule->prefix;
  rule_ = std::move(rule);
  if (!same) store_ = std::make_shared<JobLeaseStore>(session_->client, FeedKeys(rule_->prefix));
}

std::string RedisJobQueue::holder() const {
  return session_->holder.lock({});
}

// ---- Claims

void RedisJobQueue::claim(std::size_t wanted) {
  claimer_.claim(rule_, store_, wanted);
}

void RedisJobQueue::on_result(JobClaims::Open&, JobClaimResult& result) {
  claim_out_ = false;
  if (result.taken.empty()) {
    ends_.send();  // no claim may follow
  } else {
    ids_.untrack();
  }
}

bool RedisJobQueue::may_start(const Claim& claim) const {
  return claimer_.may_start(claim.run);
}

// ---- Leases

void RedisJobQueue::lease_lost(RunId run) {
  // The host that has recovered the claim has returned the job to its queue.
  if (held_back_.erase(run) == 0) handler_.on_lease_lost(run);
}

void RedisJobQueue::lease_back(RunId run) {
  if (claimer_.holds(run)) handler_.on_lease_back(run);
}

void RedisJobQueue::lease_expiring(RunId run) {
  if (claimer_.holds(run)) handler_.on_lease_expiring(run);
}

// ---- Settlements

void RedisJobQueue::settle(JobSettlement&& settlement) {
  const ListConfig& rule = *settlement.rule;
  const auto* stall = std::get_if<Stall>(&settlement.what);
  EndCall end;
  end.id = settlement.claim.item;
  end.max_result = rule.max_result;
  if (rule.keeps_records) {
    end.history = history_of(rule, std::holds_alternative<Succeeded>(settlement.outcome));
    end.event = end_json(session_->holder.host, settlement);
    if (end.history.runs > 0) {
      end.more = history_members(settlement, stall ? stall->why : "");
      if (stall) end.kept = kept_record(session_->holder.host, settlement, stall->why);
    }
  }
  if (rule.keeps_records) end.breaker_limits = breaker_limits(rule);
  if (!end.breaker_limits.empty()) {
    end.breaker = breaker_entry(settlement);
    if (stall && end.breaker.empty()) end.breaker = "?";
  }
  std::visit(Effect{end}, settlement.what);
  if (stall) {
    auto tell = [this, id = DisplayItem(settlement.claim.item), why = stall->why] {
      handler_.on_quarantined(id, why);
    };
    if (end.breaker_limits.empty()) {
      later_.add(std::move(tell));
    } else {
      end.on_quarantined = [this, tell = std::move(tell)] { later_.add(tell); };
    }
  }
  const bool awaited =
      rule.fleet_concurrency > 0 || !std::holds_alternative<Finish>(settlement.what);
  put_down(settlement.claim.run, std::move(end), awaited ? Ends::Wait::turn : Ends::Wait::span);
}

void RedisJobQueue::hand_back(const Claim& claim) {
  EndCall end;
  end.id = claim.item;
  put_down(claim.run, std::move(end), Ends::Wait::turn);
}

void RedisJobQueue::put_down(const RunId& run, EndCall&& end, Ends::Wait wait) {
  auto ended = claimer_.end(run);
  if (!ended) return;
  end.run = run;
  end.holder = holder();
  const auto keys = keys_of(ended->store());
  const Ends::Times times{ended->ends, ended->forget_at()};
  if (end.hold > Duration{0}) hold_back(end, std::move(ended->lease), ended->ends);
  ends_.add(keys, std::move(end), times, std::move(ended->room),
            claimer_.held() == 0 && !claim_out_ ? Ends::Wait::none : wait);
}

// ---- Delayed jobs

/// Delays a failed job. It holds no fleet slot from now on.
void RedisJobQueue::hold_back(EndCall& end, LeaseTerms&& lease, Instant lease_ends) {
  const bool stalls = end.effect == std::string_view("stall");
  if (retired_ || held_back_.size() >= most_held_back) {
    if (stalls) end.hold = Duration{0};
    return;
  }
  if (!stalls) end.effect = "hold";
  lease.fleet = false;
  lease.claimed = lease_ends - lease.expiry;
  lease.confirm = Duration{0};
  auto store = std::static_pointer_cast<JobLeaseStore>(lease.store);
  held_back_.emplace(end.run, HeldBack{std::move(store), end.id, session_->clock.now() + end.hold,
                                       session_->leases.hold(std::move(lease), *this)});
  cancel_due();
}

/// Cancels jobs whose delay has ended, and sets the timer for the next one.
void RedisJobQueue::cancel_due() {
  const Instant now = session_->clock.now();
  std::optional<Instant> next;
  for (auto job = held_back_.begin(); job != held_back_.end();) {
    if (job->second.until > now && !retired_) {
      next = std::min(next.value_or(job->second.until), job->second.until);
      ++job;
      continue;
    }
    cancel_late(job->first, std::move(job->second));
    job = held_back_.erase(job);
  }
  if (next) cancel_timer_.set(*next, [this] { cancel_due(); });
}

void RedisJobQueue::cancel_late(const RunId& run, HeldBack&& job) {
  EndCall end;
  end.id = std::move(job.id);
  end.effect = "cancel";
  end.run = run;
  end.holder = holder();
  const Instant lease_ends = job.lease.ends();
  const Ends::Times times{lease_ends, lease_ends + job.lease.expiry()};
  job.lease = {};
  late_ends_.add(keys_of(job.store), std::move(end), times, {}, Ends::Wait::turn);
}

void RedisJobQueue::retire() {
  if (std::exchange(retired_, true)) return;
  cancel_due();
}

// ---- Events and notifications

void RedisJobQueue::tell_if_settled() {
  if (unsettled() == 0) handler_.on_all_settled();
}

void RedisJobQueue::on_up() {
  ends_.retry();
  late_ends_.retry();
  handler_.on_back();
}

void RedisJobQueue::announce(const RunEvent& event) {
  if (!rule_->keeps_records || !session_->client.connected()) return;
  // Events are for subscribers only and must not delay claims and renewals.
  if (session_->client.unsent() > most_unsent) return;
  ends_.publish(keys_of(store_),
                event_json(*rule_, session_->holder.host, event, session_->clock.wall()));
}

void RedisJobQueue::listen(bool on) {
  if (!on) {
    claimer_.stop_waiting();
    wake_.reset();
    ids_.forget();
    return;
  }
  if (wake_) return;
  // on_back() follows when the channel is confirmed too: messages before it may have been missed.
  wake_ = session_->subscriber.subscribe(
      keys().wake,
      [this](std::string_view, std::string_view) {
        ids_.untrack();  // if this host has added the job, Redis has ended tracking
        handler_.on_news();
      },
      [this] { handler_.on_back(); });
}

}  // namespace w8y::store::thoonk
