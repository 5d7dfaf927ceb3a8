#include "store/schedule/redis_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/schedule_settings.hpp"
#include "store/breaker.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Maximum number of jobs that one call claims, so that Redis is not blocked for long.
constexpr std::size_t most_taken = 64;
/// Maximum of unsent bytes up to which events of runs are published.
constexpr std::size_t most_unsent = std::size_t{1} << 20;
constexpr std::size_t tag_digits = 30;

ClaimEnd end_of(TakeStatus status) {
  switch (status) {
    case TakeStatus::ok:
    case TakeStatus::more:
      return ClaimEnd::more;
    case TakeStatus::empty:
      return ClaimEnd::empty;
    case TakeStatus::halted:
      return ClaimEnd::halted;
    case TakeStatus::paused:
      return ClaimEnd::paused;
    case TakeStatus::full:
      return ClaimEnd::fleet_full;
    case TakeStatus::breaker:
      return ClaimEnd::breaker;
  }
  return ClaimEnd::more;
}

/// Sets the effect of a settlement, unless the schedule decides it.
struct Effect {
  EndCall& end;
  void operator()(const ActOnSchedule&) const {}
  void operator()(const BackOff& rest) const {
    end.effect = "later";
    end.number = rest.time.count();
  }
  void operator()(const Die& die) const {
    end.effect = "die";
    end.instead = die.instead;
  }
  void operator()(const StopForGood&) const {
    end.effect = "stop";
    end.schedule = "STOP";
  }
  void operator()(const UnsetJob&) const { end.effect = "unset"; }
  void operator()(const BackToQueue&) const { end.effect = "back"; }
};

/// Returns the call that recovers the claims of hosts that no longer exist.
RecoverCall recover_call(const ScheduleKeys& keys, const ListConfig& rule) {
  return {scripts::schedule_recover,
          {keys.taken, keys.statuses, keys.slots, keys.timeline, keys.runs},
          {keys.work_prefix, keys.wake, to_text(history_of(rule, false)),
           std::to_string(item_shown), keys.list}};
}

}  // namespace

RedisScheduleQueue::RedisScheduleQueue(std::shared_ptr<RedisSession> session, DecideNextStep decide,
                                       ScheduleQueueHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      decide_(decide),
      refusals_([this](const std::string& why) { handler_.on_unwritten(why); }),
      timeline_review_(*session_, decide),
      ends_(*session_, {[this] {
                          if (unsettled() == 0) handler_.on_all_settled();
                        },
                        [this](const RunId& run, const std::string& why) {
                          later_.add([this, run, why] { handler_.on_given_up(run, why); });
                        },
                        [this](const std::string& refused) { refusals_.of_ends(refused); }}),
      later_(session_->clock, session_->timers),
      recovery_(*session_),
      lost_takes_(*session_,
                  [this] {
                    if (unsettled() == 0) handler_.on_all_settled();
                  }),
      news_(*session_, {[this](ScheduleNews news) { handler_.on_news(news); },
                        [this] { handler_.on_back(); }}),
      random_(std::hash<RunId>{}(session_->run_ids.next(session_->clock.wall())) ^
              session_->holder.seed),
      alive_(std::make_shared<bool>(true)) {}

RedisScheduleQueue::~RedisScheduleQueue() {
  *alive_ = false;
}

void RedisScheduleQueue::use(ListConfigPtr rule) {
  const bool same =
      rule_ && rule_->prefix == rule->prefix && rule_->bare_key_prefix() == rule->bare_key_prefix();
  rule_ = std::move(rule);
  if (!same) store_ = std::make_shared<ScheduleLeaseStore>(session_->client, ScheduleKeys(*rule_));
  const std::vector<std::string>& queues = rule_->schedule().queues;
  if (queues != queues_) place_ = 0;
  queues_ = queues;
}

std::string RedisScheduleQueue::holder() const {
  return session_->holder.lock({});
}

std::string RedisScheduleQueue::new_tag() {
  std::array<char, 33> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(random_()),
                static_cast<unsigned long long>(random_()));
  return {digits.data(), tag_digits};
}

// ---- Redis clock

void RedisScheduleQueue::note_time(std::chrono::milliseconds redis_time) {
  heard_time_ = {redis_time, session_->clock.now()};
}

std::chrono::milliseconds RedisScheduleQueue::redis_now() const {
  if (!heard_time_) return {};
  return heard_time_->first + std::chrono::duration_cast<std::chrono::milliseconds>(
                                  session_->clock.now() - heard_time_->second);
}

// ---- Claims

void RedisScheduleQueue::take(std::size_t wanted) {
  take_ = Take{rule_, store_, queues_, wanted, {}, {}, {}};
  send_take();
}

void RedisScheduleQueue::send_take() {
  take_.tickets.clear();
  for (std::size_t i = 0; i < std::min(take_.wanted, most_taken); ++i)
    take_.tickets.push_back({session_->run_ids.next(session_->clock.wall()), new_tag()});
  take_.sent = session_->clock.now();
  if (place_ >= take_.queues.size()) place_ = 0;
  // Keys and arguments are views of it.
  const TakeCall call{take_.store->keys(),
                      holder(),
                      take_.rule->key_expiry,
                      take_.rule->fleet_concurrency,
                      place_,
                      newest_fence_,
                      take_.queues,
                      take_.tickets,
                      take_.rule->breaker.runs > 0};
  const TakeWords words(call);
  session_->client.run(scripts::schedule_claim, words.keys(), words.arguments(),
                       [this, alive = alive_](const redis::Answer& answer) {
                         if (*alive) taken(answer);
                       });
}

void RedisScheduleQueue::taken(const redis::Answer& answer) {
  if (const auto trouble = trouble_of(answer)) return not_taken(*trouble);
  TakeResult result = read_take(answer.reply);
  note_time(result.now);
  place_ = result.place;
  for (DisplayItem& job : result.too_long)
    take_.parked.push_back({std::move(job), too_long_text()});
  refusals_.of_take(result);
  const bool nothing = result.taken.empty() && result.refused.empty();
  if (result.status == TakeStatus::more && nothing) return send_take();
  TakeReply reply;
  reply.end = end_of(result.status);
  reply.next_free = result.next_free;
  reply.detail = result.detail;
  reply.parked = std::exchange(take_.parked, {});
  for (std::size_t i = 0; i < std::min(result.taken.size(), take_.tickets.size()); ++i)
    reply.claims.push_back(hold(take_.tickets[i], std::move(result.taken[i])));
  if (session_->clock.now() - take_.sent > take_.rule->key_expiry / 2) {
    // By the local clock the leases are half over or have ended. No run is started under them.
    for (const Claim& claim : reply.claims) hand_back(claim);
    reply.claims.clear();
    reply.end = ClaimEnd::unavailable;
    reply.detail = "the reply to a claim came too late";
  }
  handler_.on_taken(std::move(reply));
}

void RedisScheduleQueue::not_taken(const StoreError& trouble) {
  if (trouble.maybe_done) {
    std::vector<std::string> runs;
    for (const Ticket& ticket : take_.tickets) runs.push_back(holder() + ticket.run);
    lost_takes_.add(take_.rule->prefix, recover_call(take_.store->keys(), *take_.rule), runs,
                    session_->clock.now() + take_.rule->key_expiry);
  }
  TakeReply reply;
  reply.end = trouble.about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
  reply.detail = with_remedy(trouble.why, session_->user);
  reply.parked = std::exchange(take_.parked, {});
  handler_.on_taken(std::move(reply));
}

Claim RedisScheduleQueue::hold(const Ticket& ticket, TakenJob&& job) {
  LeaseTerms terms;
  terms.run = ticket.run;
  terms.key = take_.store->keys().working(job.job);
  terms.value = ticket.tag;
  terms.fleet = take_.rule->fleet_concurrency > 0;
  terms.retake = take_.rule->on_lease_loss == OnLeaseLoss::keep_running;
  terms.expiry = take_.rule->key_expiry;
  terms.claimed = take_.sent;
  terms.store = take_.store;
  terms.item = job.job;
  held_.insert_or_assign(ticket.run, Held{take_.store, ticket.tag, std::move(job.schedule),
                                          session_->leases.hold(std::move(terms), *this)});
  newest_fence_ = std::max(newest_fence_, job.fence);
  return Claim{ticket.run, std::move(job.job), {}, job.fence, job.failures + 1};
}

bool RedisScheduleQueue::may_start(const Claim& claim) const {
  const auto held = held_.find(claim.run);
  return held != held_.end() && !held->second.lease.ends_soon();
}

// ---- Settlements

void RedisScheduleQueue::settle(JobSettlement&& settlement) {
  const ListConfig& rule = *settlement.rule;
  EndCall end;
  std::visit(Effect{end}, settlement.what);
  if (rule.keeps_records) {
    end.failures = settlement.failures;
    end.history = history_of(rule, std::holds_alternative<Succeeded>(settlement.outcome));
    end.event = end_json(session_->holder.host, settlement);
    if (end.history.runs > 0) {
      end.more = history_members(settlement);
      if (end.effect == "die") end.kept = kept_record(session_->holder.host, settlement, {});
    }
    end.breaker_limits = breaker_limits(rule);
  }
  if (!end.breaker_limits.empty()) {
    end.breaker = breaker_entry(settlement);
    if (end.effect == "die" && end.breaker.empty()) end.breaker = "?";
  }
  end.catches_up = rule.schedule().catch_up == CatchUp::all;
  end.job = std::move(settlement.claim.item);
  if (const auto* act = std::get_if<ActOnSchedule>(&settlement.what)) {
    end.decide = decide_;
    end.backoff = act->backoff;
    end.on_bad = [this](const DisplayItem& job, const std::string& why) {
      handler_.on_quarantined(job, why);
    };
  }
  put_down(settlement.claim.run, std::move(end));
}

void RedisScheduleQueue::hand_back(const Claim& claim) {
  EndCall end;
  end.job = claim.item;
  put_down(claim.run, std::move(end));
}

void RedisScheduleQueue::put_down(const RunId& run, EndCall&& end) {
  // The renewals stop here, and not when Redis has replied. A renewal that arrived after the
  // settlement would find the key missing and set it again, without a run.
  const auto held = held_.extract(run);
  if (held.empty()) return;
  const Held& claim = held.mapped();
  end.tag = claim.tag;
  end.run = run;
  using std::chrono::duration_cast;
  if (end.decide)
    store::decide(end, claim.schedule, duration_cast<std::chrono::seconds>(redis_now()).count());
  const Instant lease_ends = claim.lease.ends();
  ends_.add({claim.store, &claim.store->keys()}, std::move(end),
            {lease_ends, lease_ends + claim.lease.expiry()}, {}, ScheduleSettlements::Wait::none);
}

// ---- Dispatch and recovery

std::vector<MissedDecision> RedisScheduleQueue::decide(std::vector<MissedJob>&& missed,
                                                       UnixSeconds now) const {
  std::vector<MissedDecision> decisions;
  for (MissedJob& job : missed) {
    std::string effect = "run";
    try {
      const ScheduleDecision next = decide_(job.schedule, now, std::nullopt);
      // A decision with a new schedule is about a job that runs once.
      const auto* at = std::get_if<RunAt>(&next.step);
      if (at != nullptr && !next.schedule) effect = std::to_string(at->time);
      if (std::holds_alternative<StopJob>(next.step) && !next.schedule) effect = "stop";
    } catch (const std::exception&) {
      // This host cannot read recurrence rules: the job runs late.
    }
    decisions.push_back({std::move(job), std::move(effect)});
  }
  return decisions;
}

void RedisScheduleQueue::dispatch() {
  const DispatchCall call{std::nullopt, false, rule_->schedule().catch_up,
                          std::exchange(decisions_, {}), &rule_->schedule().shared};
  const DispatchWords words(keys(), call);
  session_->client.run(scripts::schedule_dispatch, words.keys(), words.arguments(),
                       [this, alive = alive_](const redis::Answer& answer) {
                         if (!*alive) return;
                         DispatchAnswer told;
                         if (const auto trouble = trouble_of(answer)) {
                           told.trouble =
                               trouble->about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
                           told.why = with_remedy(trouble->why, session_->user);
                         } else {
                           told.reply = read_dispatch(redis::ReplyCopy(answer.reply));
                           note_time(told.reply->now);
                           decisions_ = decide(std::exchange(told.reply->missed, {}),
                                               told.reply->now.count() / 1000);
                         }
                         handler_.on_dispatched(std::move(told));
                       });
}

void RedisScheduleQueue::recover() {
  recovery_.look(recover_call(keys(), *rule_),
                 [this](std::size_t put_back, std::optional<Duration> next) {
                   handler_.on_recovered(put_back, next);
                 });
}

// ---- Events and notifications

void RedisScheduleQueue::on_up() {
  ends_.retry();
  lost_takes_.look();
  handler_.on_back();
}

void RedisScheduleQueue::announce(const RunEvent& event) {
  if (!rule_->keeps_records || !session_->client.connected()) return;
  // Events are for subscribers only and must not delay claims and renewals.
  if (session_->client.unsent() > most_unsent) return;
  const std::string message =
      event_json(*rule_, session_->holder.host, event, session_->clock.wall());
  session_->client.call({"PUBLISH", keys().events, message});
}

}  // namespace w8y::store
