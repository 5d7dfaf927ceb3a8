#include "store/thoonk/redis_job_queue.hpp"

#include <algorithm>
#include <utility>

#include "store/breaker.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store::thoonk {

namespace {

/// Time after which a renewal confirms that a job is running. If its host dies after that, a
/// failure is counted.
constexpr Duration confirm_after = std::chrono::milliseconds(100);
/// Maximum of unsent bytes up to which events of runs are published.
constexpr std::size_t most_unsent = std::size_t{1} << 20;
/// Maximum bytes of jobs, with payloads, that a list may hold. One job is always admitted.
constexpr std::size_t most_held = std::size_t{64} << 20;

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

RecoverCall recover_call(const FeedKeys& keys, const ListConfig& rule) {
  return {scripts::job_recover,
          {keys.ids, keys.claimed, keys.cancelled, keys.stalled, keys.published, keys.taken,
           keys.slots, keys.runs},
          {keys.lease_prefix, keys.wake, std::to_string(rule.max_failures),
           to_text(history_of(rule, false)), std::to_string(item_shown)}};
}

RedisJobQueue::RedisJobQueue(std::shared_ptr<RedisSession> session, JobQueueHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      room_timer_(session_->timers),
      // The handler is never called from inside its own call.
      room_(session_->item_room,
            [this] { room_timer_.set(session_->clock.now(), [this] { handler_.on_news(); }); }),
      take_later_(session_->timers),
      cancel_timer_(session_->timers),
      ends_(*session_, told_of_ends()),
      late_ends_(*session_, told_of_ends()),
      lost_takes_(*session_, [this] { tell_if_settled(); }),
      later_(session_->clock, session_->timers),
      alive_(std::make_shared<bool>(true)) {}

RedisJobQueue::~RedisJobQueue() {
  *alive_ = false;
}

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

void RedisJobQueue::take(std::size_t wanted) {
  take_ = Take{rule_, store_, wanted, {}, {}, {}};
  send_take();
}

/// Returns whether there is memory for the payloads. A list of short jobs never waits.
bool RedisJobQueue::has_room() {
  return room_.admit(std::min(longest_, 2 * max_item), most_held);
}

void RedisJobQueue::send_take() {
  if (!has_room()) {
    TakeReply reply;
    reply.end = ClaimEnd::fleet_full;
    reply.detail = "the memory for long jobs is in use; the next claim waits until runs end";
    return answer_later(std::move(reply));
  }
  if (longest_ >= RedisSession::large && !session_->may_call_large())
    return take_later_.set(session_->large_after(), [this] { send_take(); });
  ends_.send();  // settlements and claim are sent in one write
  take_.runs.clear();
  for (std::size_t i = 0; i < std::min(take_.wanted, TakeCall::most_taken); ++i)
    take_.runs.push_back(session_->run_ids.next(session_->clock.wall()));
  take_.sent = session_->clock.now();
  const TakeCall call{take_.store->keys(),           holder(),      take_.rule->key_expiry,
                      take_.rule->fleet_concurrency, newest_fence_, take_.runs,
                      take_.rule->breaker.runs > 0};
  const TakeWords words(call);
  session_->client.run(
      scripts::job_claim, words.keys(), words.arguments(),
      [this, alive = alive_, made = session_->large_call()](const redis::Answer& answer) {
        if (*alive) taken(answer, made);
      });
}

/// Calls the handler from the loop.
void RedisJobQueue::answer_later(TakeReply reply) {
  take_later_.set(session_->clock.now(), [this, reply = std::move(reply)]() mutable {
    reply.parked = std::exchange(take_.parked, {});
    handler_.on_taken(std::move(reply));
  });
}

void RedisJobQueue::taken(const redis::Answer& answer, const RedisSession::LargeCall& made) {
  if (const auto trouble = trouble_of(answer)) return not_taken(*trouble);
  TakeResult result = read_take(answer.reply);
  if (result.bytes >= RedisSession::large) session_->large_answered(made);
  if (result.bytes > 0) longest_ = result.longest;
  std::move(result.parked.begin(), result.parked.end(), std::back_inserter(take_.parked));
  if (result.again) return send_take();
  TakeReply reply;
  reply.end = result.end;
  reply.next_free = result.next_free;
  reply.detail = result.detail;
  reply.parked = std::exchange(take_.parked, {});
  for (std::size_t i = 0; i < std::min(result.taken.size(), take_.runs.size()); ++i)
    reply.claims.push_back(hold(take_.runs[i], std::move(result.taken[i])));
  if (session_->clock.now() - take_.sent > take_.rule->key_expiry / 2) {
    // By the local clock the leases are half over or have ended. No run is started under them.
    for (const Claim& claim : reply.claims) hand_back(claim);
    reply.claims.clear();
    reply.end = ClaimEnd::unavailable;
    reply.detail = "the reply to a claim came too late";
  }
  room_.answered();
  handler_.on_taken(std::move(reply));
}

void RedisJobQueue::not_taken(const StoreError& trouble) {
  if (trouble.maybe_done) {
    std::vector<std::string> runs;
    for (const RunId& run : take_.runs) runs.push_back(holder() + run);
    lost_takes_.add(take_.rule->prefix, recover_call(take_.store->keys(), *take_.rule), runs,
                    session_->clock.now() + take_.rule->key_expiry);
  }
  room_.answered();
  TakeReply reply;
  reply.end = trouble.about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
  reply.detail = why_refused(with_remedy(trouble.why, session_->user), take_.rule->prefix);
  reply.parked = std::exchange(take_.parked, {});
  handler_.on_taken(std::move(reply));
}

LeaseTerms RedisJobQueue::terms(const RunId& run, const std::string& id, Instant claimed) const {
  LeaseTerms terms;
  terms.run = run;
  terms.key = take_.store->keys().lease(id);
  terms.value = holder() + run;
  terms.fleet = take_.rule->fleet_concurrency > 0;
  terms.retake = take_.rule->on_lease_loss == OnLeaseLoss::keep_running;
  terms.expiry = take_.rule->key_expiry;
  terms.claimed = claimed;
  terms.confirm = confirm_after;
  terms.store = take_.store;
  terms.item = id;
  return terms;
}

Claim RedisJobQueue::hold(const RunId& run, TakenJob&& job) {
  held_.insert_or_assign(
      run, Held{take_.store, session_->leases.hold(terms(run, job.id, take_.sent), *this),
                room_.hold(job.id.size() + job.payload.size())});
  newest_fence_ = std::max(newest_fence_, job.fence);
  Call call;
  call.id = job.id;
  call.input = std::move(job.payload);
  return Claim{run, std::move(job.id), std::move(call), job.fence, job.cancels + 1};
}

bool RedisJobQueue::may_start(const Claim& claim) const {
  const auto held = held_.find(claim.run);
  return held != held_.end() && !held->second.lease.ends_soon();
}

// ---- Leases

void RedisJobQueue::lease_lost(RunId run) {
  // The host that has recovered the claim has returned the job to its queue.
  if (held_back_.erase(run) == 0) handler_.on_lease_lost(run);
}

void RedisJobQueue::lease_back(RunId run) {
  if (held_.contains(run)) handler_.on_lease_back(run);
}

void RedisJobQueue::lease_expiring(RunId run) {
  if (held_.contains(run)) handler_.on_lease_expiring(run);
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
      end.on_stalled = [this, alive = alive_, tell = std::move(tell)] {
        if (*alive) later_.add(tell);
      };
    }
  }
  const RunId run = settlement.claim.run;
  if (end.hold > Duration{0}) hold_back(run, end);
  const bool awaited =
      rule.fleet_concurrency > 0 || !std::holds_alternative<Finish>(settlement.what);
  put_down(run, std::move(end), awaited ? Ends::Wait::turn : Ends::Wait::span);
}

void RedisJobQueue::hand_back(const Claim& claim) {
  EndCall end;
  end.id = claim.item;
  put_down(claim.run, std::move(end), Ends::Wait::turn);
}

void RedisJobQueue::put_down(const RunId& run, EndCall&& end, Ends::Wait wait) {
  auto held = held_.extract(run);
  if (held.empty()) return;
  Held& claim = held.mapped();
  end.run = run;
  end.holder = holder();
  Ends::Times times;
  if (const auto back = held_back_.find(run); back != held_back_.end()) {
    times.lease_ends = back->second.lease.ends();
    times.forget_at = times.lease_ends + back->second.lease.expiry();
  } else {
    times.lease_ends = claim.lease.ends();
    times.forget_at = times.lease_ends + claim.lease.expiry();
    // The renewals stop here, and not when Redis has replied.
    claim.lease = {};
  }
  ends_.add(keys_of(claim.store), std::move(end), times, std::move(claim.room),
            held_.empty() ? Ends::Wait::none : wait);
}

// ---- Delayed jobs

/// Delays a failed job. It holds no fleet slot from now on.
void RedisJobQueue::hold_back(const RunId& run, EndCall& end) {
  const auto held = held_.find(run);
  const bool stalls = end.effect == std::string_view("stall");
  if (retired_ || held == held_.end() || held_back_.size() >= most_held_back) {
    if (stalls) end.hold = Duration{0};
    return;
  }
  if (!stalls) end.effect = "hold";
  Leases::Lease& old = held->second.lease;
  const Instant claimed = old.ends() - old.expiry();
  LeaseTerms same = old.end();
  same.fleet = false;
  same.claimed = claimed;
  same.confirm = Duration{0};
  held_back_.emplace(run, HeldBack{held->second.store, end.id, session_->clock.now() + end.hold,
                                   session_->leases.hold(std::move(same), *this)});
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

// ---- In-doubt claims, events and notifications

void RedisJobQueue::tell_if_settled() {
  if (unsettled() == 0) handler_.on_all_settled();
}

void RedisJobQueue::on_up() {
  ends_.retry();
  late_ends_.retry();
  lost_takes_.look();
  handler_.on_back();
}

void RedisJobQueue::announce(const RunEvent& event) {
  if (!rule_->keeps_records || !session_->client.connected()) return;
  // Events are for subscribers only and must not delay claims and renewals.
  if (session_->client.unsent() > most_unsent) return;
  ends_.publish(keys_of(store_),
                event_json(*rule_, session_->holder.host, event, session_->clock.wall()),
                held_.size() > 1 ? Ends::Wait::span : Ends::Wait::none);
}

void RedisJobQueue::listen(bool on) {
  if (!on) {
    room_.leave();
    wake_.reset();
    changes_.reset();
    hears_changes_ = false;
    return;
  }
  hear_of_ids();
  if (wake_) return;
  // on_back() follows when the channel is confirmed too: messages before it may have been missed.
  wake_ = session_->subscriber.subscribe(
      keys().wake, [this](std::string_view, std::string_view) { handler_.on_news(); },
      [this] { handler_.on_back(); });
}

bool RedisJobQueue::hears() const {
  return hears_changes_ && session_->subscriber.connected();
}

/// Subscribes to changes by clients that send no wake-ups.
void RedisJobQueue::hear_of_ids() {
  const bool on = session_->keyspace_events.on(rule_->key_prefix());
  if (on == static_cast<bool>(changes_)) return;
  changes_.reset();
  hears_changes_ = false;
  if (!on) return;
  changes_ = session_->subscriber.subscribe(
      session_->keyspace_events.channel(keys().ids),
      [this](std::string_view, std::string_view event) {
        if (KeyspaceEvents::adds(event)) handler_.on_news();
      },
      [this] {
        hears_changes_ = true;
        handler_.on_news();
      });
}

}  // namespace w8y::store::thoonk
