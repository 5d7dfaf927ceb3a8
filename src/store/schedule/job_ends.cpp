#include "store/schedule/job_ends.hpp"

#include <utility>

#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Maximum size of the record and the event of one run.
constexpr std::size_t most_said = std::size_t{16} << 20;
/// Delay after which a settlement that Redis refused is retried.
constexpr Duration retry_pause = std::chrono::milliseconds(500);
/// Time after which a settlement that Redis refuses because of its keys is abandoned. Its key has
/// expired by then, and the job is recovered. There is no limit while the server is unavailable or
/// refuses all commands.
constexpr Duration patience = std::chrono::minutes(1);

}  // namespace

JobEnds::JobEnds(RedisSession& session, DecideNextStep decide, Handler handler)
    : session_(session),
      decide_(std::move(decide)),
      handler_(std::move(handler)),
      retry_(session.timers),
      tell_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

JobEnds::~JobEnds() {
  *alive_ = false;
}

void JobEnds::add(End&& end, UnixSeconds now) {
  const RunId run = end.call.run;
  fit(end.call);
  end.since = session_.clock.now();
  if (end.by_schedule)
    store::decide(end.call, decide_, end.schedule, now, end.backoff, end.why_bad);
  ends_.emplace(run, std::move(end));
  send(run);
}

/// Drops the record and the event of a run if they are too large. The disposition of the job
/// matters more.
void JobEnds::fit(EndCall& call) {
  const std::size_t said = call.event.size() + call.more.size();
  if (said <= most_said) return;
  call.event.clear();
  call.more.clear();
  call.kept.clear();
  call.history = HistoryLimits::none();
  news_.push_back([this, run = call.run, said] {
    handler_.given_up(run, "its run record and event have " + std::to_string(said >> 20) +
                               " MiB, more than the limit of " + std::to_string(most_said >> 20) +
                               " MiB, and are not written");
  });
  tell_.set(session_.clock.now(), [this] {
    for (const auto& tell : std::exchange(news_, {})) tell();
  });
}

void JobEnds::send(const RunId& run) {
  const End& end = ends_.at(run);
  const EndWords words(end.store->keys(), end.call);
  session_.client.run(scripts::schedule_settle, words.keys(), words.arguments(),
                      [this, alive = alive_, run](const redis::Answer& answer) {
                        if (*alive) answered(run, answer);
                      });
}

void JobEnds::answered(const RunId& run, const redis::Answer& answer) {
  const auto found = ends_.find(run);
  if (found == ends_.end()) return;
  End& end = found->second;
  if (const auto trouble = trouble_of(answer)) return failed(run, end, *trouble);
  EndResult result = read_end(answer.reply);
  if (result.state != EndResult::State::changed) {
    if (!result.refused.empty()) {
      const StoreError beside =
          refused_beside(result.refused, result.state == EndResult::State::done);
      if (!beside.settled) return failed(run, end, beside);
    }
    return confirmed(run, end, result);
  }
  end.schedule = std::move(result.schedule);
  store::decide(end.call, decide_, end.schedule, result.after, end.backoff, end.why_bad);
  send(run);
}

void JobEnds::failed(const RunId& run, End& end, const StoreError& trouble) {
  const Instant now = session_.clock.now();
  if (trouble.never || (trouble.about_keys() && now - end.since > patience)) {
    handler_.given_up(run, trouble.why);
    ends_.erase(run);
    if (ends_.empty()) handler_.none_left();
    return;
  }
  end.call.again = end.call.again || trouble.maybe_done;
  refused_.push_back(run);
  if (!retry_.pending()) retry_.set(now + retry_pause, [this] { retry(); });
}

void JobEnds::confirmed(const RunId& run, const End& end, const EndResult& result) {
  if (!result.refused.empty() || (!unwritten_.empty() && !end.call.event.empty())) {
    unwritten_ = result.refused;
    handler_.unwritten(unwritten_);
  }
  if (result.state == EndResult::State::done && !end.why_bad.empty())
    handler_.bad(end.call.job, end.why_bad);
  ends_.erase(run);
  if (ends_.empty()) handler_.none_left();
}

/// Abandons settlements of a replaced session, since no new runs use this server.
void JobEnds::give_up_overdue() {
  if (!session_.retired()) return;
  std::map<std::string, std::size_t> given_up;
  std::erase_if(refused_, [&](const RunId& run) {
    const auto found = ends_.find(run);
    if (found->second.forget_at > session_.clock.now()) return false;
    ++given_up[found->second.store->keys().timeline];
    ends_.erase(found);
    return true;
  });
  for (const auto& [list, runs] : given_up) session_.give_up(list, runs);
}

void JobEnds::retry() {
  retry_.cancel();
  const bool any = !ends_.empty();
  give_up_overdue();
  if (any && ends_.empty()) return handler_.none_left();
  for (const RunId& run : std::exchange(refused_, {})) send(run);
}

}  // namespace w8y::store
