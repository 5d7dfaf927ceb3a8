// Events that have one cause for many lists or runs, and are coalesced to one line.
#include <string>

#include "ops/event_log.hpp"

namespace w8y::ops {

namespace {

const char* list_key(const Group& group) {
  return group.one_list() ? "list" : "lists";
}

}  // namespace

EventLog::EventLog(LineLog& log, const Clock& clock, TimerQueue& timers)
    : log_(log),
      talkers_(clock),
      commands_(clock, command_rate),
      gathered_(clock, timers),
      shortages_(
          gathered_, "short",
          [this](const std::string& reason, const Group& group) {
            log_.warn(group.one_list() ? "cannot start runs, list waiting"
                                       : "cannot start runs, lists waiting",
                      {{list_key(group), group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const ProblemTracker::Over& over) {
            const auto ms = std::chrono::duration_cast<WallTime>(over.lasted).count();
            log_.info("starting runs again", {{list_key(over.group), over.group.names()},
                                              {"not_started", over.attempts},
                                              {"duration_ms", ms}});
          }),
      refusals_(
          gathered_, "refused",
          [this](const std::string& reason, const Group& group) {
            log_.error("claims refused by Redis, retrying",
                       {{list_key(group), group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const ProblemTracker::Over& over) {
            log_.info("claims accepted by Redis again",
                      {{list_key(over.group), over.group.names()}});
          }),
      unwritten_(
          gathered_, "write error",
          [this](const std::string& reason, const Group& group) {
            log_.error("run records refused by Redis",
                       {{list_key(group), group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const ProblemTracker::Over& over) {
            log_.info("run records accepted again", {{list_key(over.group), over.group.names()}});
          }) {}

/// Coalesces lost runs, since an outage of Redis loses the leases of all lists.
void EventLog::log_lost_run(const RunEnded& event) {
  gathered_.add(
      "lost run", std::string(event.of.prefix),
      [this, list = std::string(event.of.prefix), item = event.of.item.copy(),
       id = std::string(event.of.run), reason = outcome_reason(event.outcome)](const Group& group) {
        if (group.once())
          return log_.warn("run ended", {{"list", list},
                                         {"item", LoggedItem(item)},
                                         {"run", id},
                                         {"outcome", "lost"},
                                         {"reason", reason}});
        log_.warn("runs ended",
                  {{"lists", group.names()}, {"runs", group.count}, {"outcome", "lost"}});
      });
}

void EventLog::write(const LeaseChanged& event) {
  const std::string key = event.held     ? "lease regained"
                          : event.killed ? "lease lost, killed"
                                         : "lease lost, continues";
  gathered_.add(
      key, std::string(event.of.prefix),
      [this, held = event.held, killed = event.killed, list = std::string(event.of.prefix),
       item = event.of.item.copy(), run = std::string(event.of.run)](const Group& group) {
        if (group.once()) {
          return log_.warn(held     ? "lease regained"
                           : killed ? "lease lost, run killed (on_lease_loss)"
                                    : "lease lost, run continues",
                           {{"list", list}, {"item", LoggedItem(item)}, {"run", run}});
        }
        log_.warn(held     ? "leases regained"
                  : killed ? "leases lost, runs killed (on_lease_loss)"
                           : "leases lost, runs continue",
                  {{"lists", group.names()}, {"runs", group.count}});
      });
}

/// Counts each run, since an event has all runs of one list.
void EventLog::write(const SettlementsAbandoned& event) {
  for (std::size_t i = 0; i < event.runs; ++i)
    gathered_.add("given up " + std::string(event.redis), std::string(event.prefix),
                  [this, redis = std::string(event.redis)](const Group& group) {
                    log_.warn("settlements abandoned: Redis removed from the config",
                              {{"redis", redis}, {"lists", group.names()}, {"runs", group.count}});
                  });
}

void EventLog::write(const ListChanged& event) {
  const std::string list(event.prefix);
  std::string program(event.program);
  if (event.state == ListState::idle) {
    gathered_.add("served", list, [this, program = std::move(program)](const Group& group) {
      if (group.one_list())
        return log_.info("list served", {{"list", group.names()}, {"program", program}});
      log_.info("lists served", {{"lists", group.names()}});
    });
    return;
  }
  if (event.state != ListState::ineligible) return;
  const std::string reason(event.why);
  // A missing directory or account affects every program, so these events are coalesced across
  // programs.
  const std::string key = "ineligible " + (event.of_host ? std::string() : program + ": ") + reason;
  gathered_.add(
      key, list,
      [this, program = std::move(program), reason, of_host = event.of_host](const Group& group) {
        if (group.one_list())
          return log_.info("host ineligible for list",
                           {{"list", group.names()}, {"program", program}, {"reason", reason}});
        const std::string what = "host ineligible for lists";
        if (of_host) return log_.info(what, {{"lists", group.names()}, {"reason", reason}});
        log_.info(what, {{"lists", group.names()}, {"program", program}, {"reason", reason}});
      });
}

void EventLog::write(const ShortageChanged& event) {
  if (event.ended) return shortages_.end(event.of.id, event.attempts, event.lasted);
  shortages_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::write(const ClaimsRefused& event) {
  if (event.ended) return refusals_.end(event.of.id);
  unwritten_.forget(event.of.id);  // implied by the line above
  refusals_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::write(const BreakerChanged& event) {
  if (event.ended) return log_.info("breaker closed", {{"list", event.of.prefix}});
  log_.error("breaker open", {{"list", event.of.prefix}, {"reason", event.reason}});
}

void EventLog::write(const WritesRefused& event) {
  if (event.ended) return unwritten_.end(event.of.id);
  unwritten_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::write(const MaintenanceChanged& event) {
  if (event.ended) return log_.info("maintenance working again", {{"list", event.prefix}});
  const std::string reason(event.reason);
  gathered_.add(
      "maintenance " + reason, std::string(event.prefix), [this, reason](const Group& group) {
        log_.warn("maintenance failed", {{list_key(group), group.names()}, {"reason", reason}});
      });
}

void EventLog::write(const ListOverdue& event) {
  if (event.ended) return log_.info("items no longer overdue", {{"list", event.prefix}});
  log_.warn("items overdue", {{"list", event.prefix}, {"reason", event.why}});
}

void EventLog::write(const PollerGone& event) {
  shortages_.forget(event.of.id);
  unwritten_.forget(event.of.id);
  refusals_.forget(event.of.id);
}

}  // namespace w8y::ops
