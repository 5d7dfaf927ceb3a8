// Disposition of a job of a feed after its run.
#pragma once

#include "core/ended_run.hpp"
#include "store/thoonk/job_queue.hpp"

namespace w8y::source {

store::thoonk::JobDisposition dispose_of_feed_job(const EndedRun& run);

}  // namespace w8y::source
