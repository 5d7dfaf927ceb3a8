#include "source/schedule/source.hpp"

#include <utility>

#include "core/escape.hpp"
#include "source/schedule/disposition.hpp"

namespace w8y::source {

namespace {

/// Returns the message for a halted list. `who`: the operator that has sent HALT, if known.
std::string halt_text(const std::string& who, const std::string& key_prefix) {
  return "HALT" + (who.empty() ? std::string() : " by " + who) + "; \"w8yctl schedule -k " +
         shell_argument(key_prefix) + " control RESUME\" ends it";
}

}  // namespace

ScheduleSource::ScheduleSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                               const MakeQueue& make)
    : ClaimingSource(clock, idle, handler), queue_(make(*this)) {}

ScheduleSource::~ScheduleSource() = default;

void ScheduleSource::use(ListConfigPtr rule) {
  key_prefix_ = rule->bare_key_prefix();
  ClaimingSource::use(std::move(rule));
}

void ScheduleSource::settle(EndedRun&& run) {
  const ScheduleDisposition disposition = dispose_of_scheduled(run);
  queue_->settle({std::move(run), disposition.what, disposition.failures});
}

void ScheduleSource::prepare(ClaimReply& reply) {
  if (reply.end == ClaimEnd::halted) reply.detail = halt_text(reply.detail, key_prefix_);
}

/// Changes of the timeline are handled by the Dispatcher.
void ScheduleSource::on_news(store::ScheduleNews what) {
  if (what != store::ScheduleNews::timeline && what != store::ScheduleNews::changed) woken();
}

}  // namespace w8y::source
