// What many lists or runs may meet for one cause: gathered, and told together.
#include <string>

#include "ops/event_log.hpp"

namespace w8y::ops {

namespace {

const char* list_key(const Group& group) {
  return group.one_list() ? "list" : "lists";
}

std::string number_of_lists(const Group& group) {
  return std::to_string(group.lists.size()) + " lists";
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
            if (group.one_list())
              return log_.warn("this host can't start runs: the list waits, its items are free",
                               {{"list", group.names()}, {"reason", reason}});
            log_.warn("this host can't start runs: " + number_of_lists(group) +
                          " wait, their items are free",
                      {{"lists", group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            const auto ms = std::chrono::duration_cast<WallTime>(over.lasted).count();
            log_.info("this host can start runs again", {{list_key(over.group), over.group.names()},
                                                         {"not_started", over.attempts},
                                                         {"after_ms", ms}});
          }),
      refusals_(
          gathered_, "refused",
          [this](const std::string& reason, const Group& group) {
            const std::string what = group.one_list() ? "this list" : number_of_lists(group);
            log_.error("Redis refuses " + what + "; trying again",
                       {{list_key(group), group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            const std::string what =
                over.group.one_list() ? "this list" : number_of_lists(over.group);
            log_.info("Redis takes " + what + " again",
                      {{list_key(over.group), over.group.names()}});
          }),
      unwritten_(
          gathered_, "unwritten",
          [this](const std::string& reason, const Group& group) {
            log_.error("Redis refuses part of what is written of runs",
                       {{list_key(group), group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            log_.info("Redis takes all that is written of runs again",
                      {{list_key(over.group), over.group.names()}});
          }) {}

/// A Redis that is away costs all lists their locks: they are told together.
void EventLog::tell_lost_run(const RunEnded& event) {
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
        log_.warn(std::to_string(group.count) + " runs ended: their locks were lost",
                  {{"lists", group.names()}, {"outcome", "lost"}});
      });
}

void EventLog::tell(const LeaseChanged& event) {
  const std::string key = event.held     ? "lock back"
                          : event.killed ? "lock lost, ends"
                                         : "lock lost, goes on";
  gathered_.add(
      key, std::string(event.of.prefix),
      [this, held = event.held, killed = event.killed, list = std::string(event.of.prefix),
       item = event.of.item.copy(), run = std::string(event.of.run)](const Group& group) {
        if (group.once()) {
          return log_.warn(
              held     ? "took the lock of a run back"
              : killed ? "lost the lock of a run; killed the run, since on_lease_loss is terminate"
                       : "lost the lock of a run; the run goes on",
              {{"list", list}, {"item", LoggedItem(item)}, {"run", run}});
        }
        const std::string runs = std::to_string(group.count) + " runs";
        log_.warn(held     ? "the locks of " + runs + " are ours again"
                  : killed ? "lost the locks of " + runs +
                                 "; killed them, since on_lease_loss is terminate"
                           : "lost the locks of " + runs + "; they go on",
                  {{"lists", group.names()}});
      });
}

/// Each of the runs counts, and they come list by list.
void EventLog::tell(const EndsDropped& event) {
  for (std::size_t i = 0; i < event.runs; ++i)
    gathered_.add(
        "given up " + std::string(event.redis), std::string(event.prefix),
        [this, redis = std::string(event.redis)](const Group& group) {
          log_.warn(
              "dropped the ends of runs that were for a Redis which is no longer in the config: "
              "it did not answer until their locks had expired",
              {{"redis", redis}, {"lists", group.names()}, {"runs", group.count}});
        });
}

void EventLog::tell(const ListChanged& event) {
  const std::string list(event.prefix);
  std::string program(event.program);
  if (event.state == ListState::idle) {
    gathered_.add("served", list, [this, program = std::move(program)](const Group& group) {
      if (group.one_list())
        return log_.info("list served", {{"list", group.names()}, {"program", program}});
      log_.info(number_of_lists(group) + " served", {{"lists", group.names()}});
    });
    return;
  }
  if (event.state != ListState::refused) return;
  const std::string reason(event.why);
  // A folder or an account is the same cause for every program.
  const std::string key = "refused " + (event.of_host ? std::string() : program + ": ") + reason;
  gathered_.add(
      key, list,
      [this, program = std::move(program), reason, of_host = event.of_host](const Group& group) {
        if (group.one_list())
          return log_.info("list refused on this host",
                           {{"list", group.names()}, {"program", program}, {"reason", reason}});
        const std::string what = number_of_lists(group) + " refused on this host";
        if (of_host) return log_.info(what, {{"lists", group.names()}, {"reason", reason}});
        log_.info(what, {{"lists", group.names()}, {"program", program}, {"reason", reason}});
      });
}

void EventLog::tell(const ShortageChanged& event) {
  if (event.over) return shortages_.end(event.of.id, event.attempts, event.lasted);
  shortages_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::tell(const ClaimsRefused& event) {
  if (event.over) return refusals_.end(event.of.id);
  unwritten_.forget(event.of.id);  // a part of that
  refusals_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::tell(const WritesRefused& event) {
  if (event.over) return unwritten_.end(event.of.id);
  unwritten_.begin(event.of.id, std::string(event.of.prefix), std::string(event.reason));
}

void EventLog::tell(const UpkeepChanged& event) {
  if (event.over) return log_.info("the list is looked after again", {{"list", event.prefix}});
  const std::string reason(event.reason);
  gathered_.add("upkeep " + reason, std::string(event.prefix), [this, reason](const Group& group) {
    log_.warn("can't look after " + (group.one_list() ? "the list" : number_of_lists(group)),
              {{group.one_list() ? "list" : "lists", group.names()}, {"reason", reason}});
  });
}

void EventLog::tell(const VisitsLate& event) {
  if (event.over) return log_.info("items come round in time again", {{"list", event.prefix}});
  log_.warn("items wait too long for their turn", {{"list", event.prefix}, {"reason", event.why}});
}

void EventLog::tell(const PollerGone& event) {
  shortages_.forget(event.of.id);
  unwritten_.forget(event.of.id);
  refusals_.forget(event.of.id);
}

}  // namespace w8y::ops
