#include "source/job/source.hpp"

#include <utility>

#include "source/job/disposition.hpp"

namespace w8y::source {

JobSource::JobSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                     const MakeQueue& make)
    : ClaimingSource(clock, idle, handler), queue_(make(*this)) {}

JobSource::~JobSource() = default;

void JobSource::retire() {
  ClaimingSource::retire();
  queue_->retire();
}

/// A client reports a job after Redis does. If it is claimed by then, another claim would find
/// nothing, and delay the next. A peek costs less.
void JobSource::on_news() {
  const bool peeks = is_idle() && std::exchange(peeks_at_news_, false);
  if (!peeks || !pay_for_peek(queue_->track(), true)) woken();
}

void JobSource::settle(EndedRun&& run) {
  store::thoonk::JobDisposition what = dispose_of_feed_job(run);
  queue_->settle({std::move(run), std::move(what)});
}

}  // namespace w8y::source
