#include "store/schedule/redis_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/schedule_settings.hpp"
#include "store/breaker.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Maximum of unsent bytes up to which events of runs are published.
constexpr std::size_t most_unsent = std::size_t{1} << 20;
constexpr std::size_t tag_digits = 30;

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

/// Returns the time of the earliest job that is left on the timeline, in seconds since 1970. It is
/// a little early: milliseconds are rounded.
double due_of(const DispatchReply& reply) {
  if (!reply.next_due) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(reply.now + *reply.next_due).count() - 0.01;
}

}  // namespace

RedisScheduleQueue::RedisScheduleQueue(std::shared_ptr<RedisSession> session, DecideNextStep decide,
                                       ScheduleQueueHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      decide_(decide),
      claimer_(*session_, memory_, *this, handler_),
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

void RedisScheduleQueue::claim(std::size_t wanted) {
  claimer_.claim(rule_, store_, wanted, {queues_, 0, {}});
}

void RedisScheduleQueue::before_call(ScheduleClaims::Open& open) {
  ScheduleScan& scan = open.scan;
  if (place_ >= scan.queues.size()) place_ = 0;
  scan.place = place_;
  scan.tags.clear();
  scan.tags.reserve(open.runs.size());
  for (std::size_t i = 0; i < open.runs.size(); ++i) scan.tags.push_back(new_tag());
}

void RedisScheduleQueue::on_result(ScheduleClaims::Open&, ScheduleClaimResult& result) {
  note_time(result.now);
  place_ = result.place;
  refusals_.of_claim(result, !result.taken.empty());
  if (!result.taken.empty()) news_.untrack_queues();
}

bool RedisScheduleQueue::may_start(const Claim& claim) const {
  return claimer_.may_start(claim.run);
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
  auto ended = claimer_.end(run);
  if (!ended) return;
  session_->tracking.untrack(keys().timeline);
  end.tag = std::move(ended->lease.value);
  end.run = run;
  using std::chrono::duration_cast;
  if (end.decide)
    store::decide(end, ended->note, duration_cast<std::chrono::seconds>(redis_now()).count());
  ends_.add(keys_of(ended->store()), std::move(end), {ended->ends, ended->forget_at()}, {},
            ScheduleSettlements::Wait::none);
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
  session_->client.run(
      scripts::schedule_dispatch, words.keys(), words.arguments(),
      [this, alive = alive_, decided = !call.decisions.empty()](const redis::Answer& answer) {
        if (!*alive) return;
        DispatchAnswer told;
        next_due_.reset();
        if (const auto trouble = trouble_of(answer)) {
          told.trouble = trouble->about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
          told.why = with_remedy(trouble->why, session_->user);
        } else {
          told.reply = read_dispatch(redis::ReplyCopy(answer.reply));
          note_time(told.reply->now);
          if (!told.reply->halted) next_due_ = due_of(*told.reply);
          if (told.reply->taken_off > 0 || told.reply->refused > 0 || decided)
            news_.untrack_timeline();
          decisions_ =
              decide(std::exchange(told.reply->missed, {}), told.reply->now.count() / 1000);
        }
        handler_.on_dispatched(std::move(told));
      });
}

void RedisScheduleQueue::recover() {
  recovery_.look(recover_call(keys(), *rule_),
                 [this](std::size_t put_back, std::optional<Duration> next) {
                   if (put_back > 0) news_.untrack_timeline();
                   handler_.on_recovered(put_back, next);
                 });
}

// ---- Events and notifications

void RedisScheduleQueue::on_up() {
  ends_.retry();
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
