#include "source/schedule/source.hpp"

#include <algorithm>
#include <utility>

#include "source/schedule/disposition.hpp"

namespace w8y::source {

namespace {

/// `who` has said HALT, if that is known: for people.
std::string halt_text(const std::string& who) {
  return "HALT" + (who.empty() ? std::string() : " by " + who) +
         "; \"w8yctl schedule control RESUME\" ends it";
}

}  // namespace

ScheduleSource::ScheduleSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                               const MakeQueue& make)
    : ClaimRelay(handler), IdlePolls::Sleeper(idle), clock_(clock), queue_(make(*this)) {}

ScheduleSource::~ScheduleSource() = default;

void ScheduleSource::use(RulePtr rule) {
  queue_->use(std::move(rule));
  let_in_ = false;
  end_rest();
}

// ---- claims

/// All lists of a host begin at once, or get another connection: the first claims after that wait
/// until few enough others are out.
void ScheduleSource::claim(std::size_t wanted) {
  out_ = true;
  still_wanted_ = true;
  wanted_ = wanted;
  if (!let_in_) let_in_ = come_in();
  if (let_in_) queue_->take(wanted_);  // else back_due() does
}

void ScheduleSource::back_due() {
  if (let_in_ || !out_) {
    been_back();
    if (resting_) stir();
    return;
  }
  let_in_ = true;
  queue_->take(wanted_);
}

void ScheduleSource::on_taken(store::TakeReply&& reply) {
  out_ = false;
  const bool woken = std::exchange(woken_, false);
  const bool for_wake = std::exchange(for_wake_, false);
  const double paid = std::exchange(paid_, 0);
  const bool found = !reply.claims.empty();
  if (found) {
    charge(-paid);  // that was no idle poll
    fruitless_ = 0;
  } else if (for_wake) {
    fruitless_ = std::min(fruitless_ + 1, most_fruitless);
  }
  // What woke it meanwhile makes its "nothing" old: then it is asked again, soon.
  if (still_wanted_ && reply.end != ClaimEnd::more)
    rest(woken ? std::optional(Duration{0}) : reply.next_free);
  been_back();
  if (reply.end == ClaimEnd::halted) reply.detail = halt_text(reply.detail);
  for (const ShownItem& job : reply.parked) handler_.on_parked(job, too_long_text());
  handler_.on_claimed({std::move(reply.claims), reply.end, std::move(reply.detail)});
}

void ScheduleSource::stop_waiting() {
  still_wanted_ = false;
  let_in_ = false;
  end_rest();
}

void ScheduleSource::retire() {
  stop_waiting();
  queue_->listen(false);
}

void ScheduleSource::settle(EndedRun&& run) {
  const JobDisposition disposition = dispose_of_job(run);
  queue_->settle({std::move(run), disposition.what, disposition.failures});
}

// ---- at rest

void ScheduleSource::rest(const std::optional<Duration>& next) {
  resting_ = true;
  queue_->listen(true);
  std::optional<Duration> hint = next;
  if (fruitless_ > 0 && hint) hint = std::max(*hint, first_wake_pause * (1 << (fruitless_ - 1)));
  sleep({hint, 1, 1});
}

void ScheduleSource::end_rest() {
  resting_ = false;
  wake_waits_ = false;
  IdlePolls::Sleeper::wake();
}

void ScheduleSource::stir() {
  if (wake_waits_) {
    woke_at_ = clock_.now();
    for_wake_ = true;
  }
  end_rest();
  handler_.on_may_claim();
}

void ScheduleSource::poll_due(bool, double paid) {
  paid_ = paid;
  stir();
}

/// What is said of the timeline is for who dispatches.
void ScheduleSource::on_news(store::ScheduleNews news) {
  if (news == store::ScheduleNews::timeline) return;
  if (out_) {
    woken_ = true;
    return;
  }
  if (!resting_) return;
  const Instant now = clock_.now();
  const Instant at =
      fruitless_ > 0 ? woke_at_ + first_wake_pause * (1 << (fruitless_ - 1)) : Instant{};
  wake_waits_ = true;
  if (at > now) return sleep({at - now, 1, 1});
  stir();
}

void ScheduleSource::on_back() {
  let_in_ = false;
  if (out_) {
    woken_ = true;
  } else if (resting_) {
    stir();
  }
}

}  // namespace w8y::source
