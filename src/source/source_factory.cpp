#include "source/source_factory.hpp"

#include <utility>

#include "schedule/schedule.hpp"
#include "source/circular/circular_factory.hpp"
#include "source/job/source.hpp"
#include "source/job/upkeep.hpp"
#include "source/schedule/decision.hpp"
#include "source/schedule/dispatcher.hpp"
#include "source/schedule/source.hpp"
#include "store/gearman/redis_records.hpp"
#include "store/schedule/redis_queue.hpp"
#include "store/thoonk/redis_job_care.hpp"
#include "store/thoonk/redis_job_queue.hpp"

namespace w8y::source {

namespace {

std::unique_ptr<Source> make_schedule(const std::shared_ptr<store::RedisSession>& session,
                                      IdlePolls& idle, SourceHandler& handler) {
  return std::make_unique<ScheduleSource>(
      session->clock, idle, handler, [&session](store::ScheduleQueueHandler& told) {
        return std::make_unique<store::RedisScheduleQueue>(session, decide_next, told);
      });
}

std::unique_ptr<Source> make_job(const std::shared_ptr<store::RedisSession>& session,
                                 IdlePolls& idle, SourceHandler& handler) {
  return std::make_unique<JobSource>(
      session->clock, idle, handler, [&session](store::thoonk::JobQueueHandler& told) {
        return std::make_unique<store::thoonk::RedisJobQueue>(session, told);
      });
}

}  // namespace

std::unique_ptr<Source> make_source(const std::shared_ptr<store::RedisSession>& session,
                                    const ListConfig& rule, IdlePolls& idle,
                                    SourceHandler& handler) {
  switch (rule.kind()) {
    case SourceKind::circular:
    case SourceKind::gearman:
      break;
    case SourceKind::schedule:
      return make_schedule(session, idle, handler);
    case SourceKind::job:
      return make_job(session, idle, handler);
  }
  return make_circular(session, idle, handler);
}

std::unique_ptr<Source> make_gearman(const std::shared_ptr<store::RedisSession>& session,
                                     const GearmanHost& host, SourceHandler& handler) {
  return std::make_unique<GearmanSource>(
      host, handler,
      [&session](store::GearmanRecordsHandler& told) -> std::unique_ptr<store::GearmanRecords> {
        if (!session) return nullptr;
        return std::make_unique<store::RedisGearmanRecords>(session, told);
      });
}

std::string why_not(const ListConfig& rule) {
  return rule.kind() == SourceKind::schedule ? schedule::why_no_schedules() : std::string();
}

std::unique_ptr<ListMaintenance> make_upkeep(const std::shared_ptr<store::RedisSession>& session,
                                             const ListConfigPtr& rule, IdlePolls& idle,
                                             ListMaintenanceHandler& handler, NoteTime note) {
  if (rule->kind() == SourceKind::job)
    return std::make_unique<JobUpkeep>(
        session->clock, idle, handler,
        [&session](store::thoonk::JobCareHandler& told) {
          return std::make_unique<store::thoonk::RedisJobCare>(session, told);
        },
        rule);
  if (rule->kind() != SourceKind::schedule) return nullptr;
  return std::make_unique<Dispatcher>(
      session->clock, session->timers, idle, handler,
      [&session](store::ScheduleQueueHandler& told) {
        return std::make_unique<store::RedisScheduleQueue>(session, decide_next, told);
      },
      std::move(note), rule);
}

}  // namespace w8y::source
