#include "source/job/source.hpp"

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

void JobSource::settle(EndedRun&& run) {
  store::thoonk::JobDisposition what = dispose_of_feed_job(run);
  queue_->settle({std::move(run), std::move(what)});
}

}  // namespace w8y::source
