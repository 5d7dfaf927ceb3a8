#include "app/journal.hpp"

#include <variant>

namespace w8y::app {

namespace {

RunRef ref(const ActiveRun& run) {
  return {run.rule->prefix, run.claim.run, run.claim.item};
}

std::int64_t milliseconds(WallTime time) {
  return time.count();
}

const std::string& program_of(const Rule& rule) {
  return rule.is_command() ? rule.command.front() : rule.executor;
}

std::string talker(const std::string& list, int pid) {
  return list + ' ' + std::to_string(pid);
}

}  // namespace

Journal::Journal(ops::Log& log, EventHandler& events, const Clock& clock, TimerQueue& timers)
    : log_(log),
      events_(events),
      talkers_(clock),
      gathered_(clock, timers),
      shortages_(
          gathered_, "short",
          [this](const std::string& reason, const Group& group) {
            if (group.one_list())
              return log_.warn("this host can't start runs: the list waits, its items are free",
                               {{"list", group.names()}, {"reason", reason}});
            log_.warn("this host can't start runs: " + std::to_string(group.lists.size()) +
                          " lists wait, their items are free",
                      {{"lists", group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            const auto ms = std::chrono::duration_cast<WallTime>(over.lasted).count();
            log_.info("this host can start runs again",
                      {{over.group.one_list() ? "list" : "lists", over.group.names()},
                       {"not_started", over.attempts},
                       {"after_ms", ms}});
          }),
      refusals_(
          gathered_, "refused",
          [this](const std::string& reason, const Group& group) {
            if (group.one_list())
              return log_.error("Redis refuses this list; trying again",
                                {{"list", group.names()}, {"reason", reason}});
            log_.error(
                "Redis refuses " + std::to_string(group.lists.size()) + " lists; trying again",
                {{"lists", group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            if (over.group.one_list())
              return log_.info("Redis takes this list again", {{"list", over.group.names()}});
            log_.info("Redis takes " + std::to_string(over.group.lists.size()) + " lists again",
                      {{"lists", over.group.names()}});
          }),
      unwritten_(
          gathered_, "unwritten",
          [this](const std::string& reason, const Group& group) {
            log_.error("Redis refuses part of what is written of runs",
                       {{group.one_list() ? "list" : "lists", group.names()}, {"reason", reason}});
          },
          [this](const std::string&, const Troubles::Over& over) {
            log_.info("Redis takes all that is written of runs again",
                      {{over.group.one_list() ? "list" : "lists", over.group.names()}});
          }) {}

Journal::~Journal() {
  flush();
}

void Journal::run_started(const Poller&, const ActiveRun& run) {
  if (events_.listens())
    events_.on_event(RunStarted{ref(run), run.pid, run.claim.attempt, run.claim.fence});
  if (!log_.enabled(LogLevel::debug)) return;
  log_.debug("run started", {{"list", run.rule->prefix},
                             {"item", ops::LoggedItem(run.claim.item)},
                             {"run", run.claim.run},
                             {"pid", run.pid},
                             {"attempt", run.claim.attempt}});
}

void Journal::run_message(const Poller& poller, const ActiveRun& run, const Message& message) {
  if (const auto* progress = std::get_if<Progress>(&message)) {
    if (events_.listens()) events_.on_event(RunProgressed{ref(run), *progress});
    if (!log_.enabled(LogLevel::debug)) return;
    log_.debug("progress", {{"list", run.rule->prefix},
                            {"item", ops::LoggedItem(run.claim.item)},
                            {"run", run.claim.run},
                            {"numerator", progress->numerator},
                            {"denominator", progress->denominator}});
  } else if (const auto* update = std::get_if<Update>(&message)) {
    if (events_.listens()) events_.on_event(RunUpdated{ref(run), update->data});
  } else if (const auto* print = std::get_if<Print>(&message)) {
    run_logged(poller, run, print->content, false);
  } else if (const auto* complete = std::get_if<Complete>(&message)) {
    if (complete->mistake.empty()) return;
    log_.warn("ignored a part of a complete message", {{"list", run.rule->prefix},
                                                       {"item", ops::LoggedItem(run.claim.item)},
                                                       {"run", run.claim.run},
                                                       {"reason", complete->mistake}});
  } else if (const auto* bad = std::get_if<BadLine>(&message)) {
    if (run.bad_lines > bad_lines_logged) return;
    log_.warn("ignored a line of standard output", {{"list", run.rule->prefix},
                                                    {"item", ops::LoggedItem(run.claim.item)},
                                                    {"run", run.claim.run},
                                                    {"reason", bad->reason}});
  }
}

bool Journal::admits(const std::string& talker, ops::LogField of, const std::string& list) {
  if (!log_.enabled(LogLevel::info)) return false;
  const auto answer = talkers_.ask(talker);
  if (answer.left_out > 0) tell_left_out(answer.left_out, of, list);
  return answer.admitted;
}

void Journal::tell_left_out(std::size_t lines, ops::LogField of, const std::string& list) {
  log_.warn("left out lines that a child wrote before this: more than 1,000 a second",
            {{"list", list}, of, {"lines", lines}});
}

void Journal::run_logged(const Poller&, const ActiveRun& run, std::string_view line, bool cut) {
  if (!admits(run.claim.run, {"run", run.claim.run}, run.rule->prefix)) return;
  log_.info("child", {{"list", run.rule->prefix},
                      {"item", ops::LoggedItem(run.claim.item)},
                      {"run", run.claim.run},
                      {"out", ops::Said{line}}});
  if (cut)
    log_.warn("cut the line before: it is longer than max_line",
              {{"list", run.rule->prefix}, {"run", run.claim.run}});
}

void Journal::process_news(const Poller& poller, int pid, const ProcessNews& news) {
  const std::string& list = poller.rule().prefix;
  if (const auto* line = std::get_if<ProcessLine>(&news)) {
    if (!admits(talker(list, pid), {"pid", pid}, list)) return;
    log_.info("child", {{"list", list}, {"pid", pid}, {"out", ops::Said{line->line}}});
    if (line->cut)
      log_.warn("cut the line before: it is longer than max_line", {{"list", list}, {"pid", pid}});
  } else if (const auto* bad = std::get_if<ProcessBadLine>(&news)) {
    if (bad->number > bad_lines_logged) return;
    log_.warn("ignored a line of standard output",
              {{"list", list}, {"pid", pid}, {"reason", bad->reason}});
  } else if (const auto* over = std::get_if<ProcessOver>(&news)) {
    if (const auto lines = talkers_.over(talker(list, pid)); lines > 0)
      tell_left_out(lines, {"pid", pid}, list);
    log_.write(over->early ? LogLevel::warn : LogLevel::debug,
               over->early ? "a stream process ended by itself" : "process ended",
               {{"list", list}, {"pid", pid}, {"reason", over->how}});
    if (over->bad_lines > bad_lines_logged)
      log_.warn("ignored lines of standard output that are no messages",
                {{"list", list}, {"pid", pid}, {"lines", over->bad_lines}});
  } else {
    log_.debug("process started", {{"list", list}, {"pid", pid}});
  }
}

void Journal::run_ended(const Poller&, const EndedRun& run) {
  if (const auto lines = talkers_.over(run.claim.run); lines > 0)
    tell_left_out(lines, {"run", run.claim.run}, run.rule->prefix);
  const Duration took = std::chrono::duration_cast<Duration>(run.ended - run.started);
  if (events_.listens())
    events_.on_event(
        RunEnded{{run.rule->prefix, run.claim.run, run.claim.item}, run.outcome, took});
  if (std::holds_alternative<Lost>(run.outcome)) {
    tell_lost_run(run);
  } else {
    tell_end(run);
  }
  if (run.end.bad_lines > bad_lines_logged)
    log_.warn("ignored lines of standard output that are no messages",
              {{"list", run.rule->prefix}, {"run", run.claim.run}, {"lines", run.end.bad_lines}});
}

void Journal::tell_end(const EndedRun& run) {
  const bool good = std::holds_alternative<Succeeded>(run.outcome);
  const LogLevel level = good ? LogLevel::debug : LogLevel::warn;
  if (log_.enabled(level)) {
    const char* outcome = outcome_name(run.outcome);
    const std::string reason = outcome_reason(run.outcome);
    if (good) {
      log_.write(level, "run ended",
                 {{"list", run.rule->prefix},
                  {"item", ops::LoggedItem(run.claim.item)},
                  {"run", run.claim.run},
                  {"outcome", outcome},
                  {"took_ms", milliseconds(run.ended - run.started)}});
    } else {
      log_.write(level, "run ended",
                 {{"list", run.rule->prefix},
                  {"item", ops::LoggedItem(run.claim.item)},
                  {"run", run.claim.run},
                  {"outcome", outcome},
                  {"reason", reason},
                  {"attempt", run.claim.attempt},
                  {"took_ms", milliseconds(run.ended - run.started)}});
    }
  }
}

/// A Redis that is away costs all lists their locks: they are told together.
void Journal::tell_lost_run(const EndedRun& run) {
  gathered_.add("lost run", run.rule->prefix,
                [this, list = run.rule->prefix, item = ShownItem(run.claim.item),
                 id = run.claim.run, reason = outcome_reason(run.outcome)](const Group& group) {
                  if (group.once())
                    return log_.warn("run ended", {{"list", list},
                                                   {"item", ops::LoggedItem(item)},
                                                   {"run", id},
                                                   {"outcome", "lost"},
                                                   {"reason", reason}});
                  log_.warn(std::to_string(group.count) + " runs ended: their locks were lost",
                            {{"lists", group.names()}, {"outcome", "lost"}});
                });
}

void Journal::lease_changed(const Poller&, const ActiveRun& run, bool lost) {
  events_.on_event(LeaseChanged{ref(run), !lost});
  const bool ends = run.rule->on_lease_loss == OnLeaseLoss::terminate;
  const std::string key = !lost ? "lock back" : ends ? "lock lost, ends" : "lock lost, goes on";
  gathered_.add(key, run.rule->prefix, [this, lost, ends, of = ref(run)](const Group& group) {
    if (group.once()) {
      return log_.warn(
          !lost  ? "took the lock of a run back"
          : ends ? "lost the lock of a run; killed the run, since on_lease_loss is terminate"
                 : "lost the lock of a run; the run goes on",
          {{"list", of.prefix}, {"item", ops::LoggedItem(of.item)}, {"run", of.run}});
    }
    const std::string runs = std::to_string(group.count) + " runs";
    log_.warn(!lost ? "the locks of " + runs + " are ours again"
              : ends
                  ? "lost the locks of " + runs + "; killed them, since on_lease_loss is terminate"
                  : "lost the locks of " + runs + "; they go on",
              {{"lists", group.names()}});
  });
}

void Journal::item_parked(const Poller& poller, const ShownItem& item, const std::string& why) {
  log_.error("item quarantined: " + why,
             {{"list", poller.rule().prefix}, {"item", ops::LoggedItem(item)}});
}

void Journal::given_up(const Poller& poller, const RunId& run, const std::string& why) {
  log_.error("could not write the end of a run to Redis",
             {{"list", poller.rule().prefix}, {"run", run}, {"reason", why}});
}

void Journal::unwritten_changed(const Poller& poller) {
  if (poller.unwritten().empty()) return unwritten_.end(&poller);
  unwritten_.begin(&poller, poller.rule().prefix, poller.unwritten());
}

void Journal::state_changed(Poller& poller) {
  const std::string& prefix = poller.rule().prefix;
  if (poller.state() == PollerState::drained) {
    shortages_.forget(&poller);
    unwritten_.forget(&poller);
    return refusals_.forget(&poller);
  }
  // Told at the end of each claim; trouble that all lists share is told by RedisWatch.
  const ClaimEnd end = poller.last_claim();
  if (poller.state() == PollerState::claiming || end == ClaimEnd::unavailable) return;
  if (end == ClaimEnd::refused) {
    unwritten_.forget(&poller);  // a part of that
    refusals_.begin(&poller, prefix, poller.detail());
  } else if (refusals_.any()) {
    refusals_.end(&poller);
    if (!poller.unwritten().empty()) unwritten_changed(poller);
  }
}

void Journal::shortage_changed(const Poller& poller) {
  const ShortageBreaker& shortage = poller.shortage();
  const std::string& list = poller.rule().prefix;
  if (shortage.any()) {
    shortages_.begin(&poller, list, shortage.reason());
    events_.on_event(ListChanged{list, ListState::starved, shortage.reason()});
    return;
  }
  shortages_.end(&poller, shortage.attempts(), shortage.lasted());
  events_.on_event(ListChanged{list, ListState::running, {}});
}

void Journal::list_refused(const Rule& rule, const Refusal& refusal) {
  const std::string& program = program_of(rule);
  const std::string& reason = refusal.reason;
  // A folder or an account is the same cause for every program.
  gathered_.add(
      "refused " + (refusal.of_host ? std::string() : program + ": ") + reason, rule.prefix,
      [this, program, refusal](const Group& group) {
        if (group.one_list())
          return log_.info(
              "list refused on this host",
              {{"list", group.names()}, {"program", program}, {"reason", refusal.reason}});
        const std::string what = std::to_string(group.lists.size()) + " lists refused on this host";
        if (refusal.of_host)
          return log_.info(what, {{"lists", group.names()}, {"reason", refusal.reason}});
        log_.info(what,
                  {{"lists", group.names()}, {"program", program}, {"reason", refusal.reason}});
      });
  events_.on_event(ListChanged{rule.prefix, ListState::refused, reason});
}

void Journal::list_served(const Rule& rule, const Caps&) {
  gathered_.add("served", rule.prefix, [this, program = program_of(rule)](const Group& group) {
    if (group.one_list())
      return log_.info("list served", {{"list", group.names()}, {"program", program}});
    log_.info(std::to_string(group.lists.size()) + " lists served", {{"lists", group.names()}});
  });
  events_.on_event(ListChanged{rule.prefix, ListState::idle, {}});
}

void Journal::given_up(const std::string& redis, const std::string& list, std::size_t runs) {
  // Each of the runs counts, and they come list by list.
  for (std::size_t i = 0; i < runs; ++i)
    gathered_.add("given up " + redis, list, [this, redis](const Group& group) {
      log_.warn(
          "dropped the ends of runs that were for a Redis which is no longer in the config: it did "
          "not answer until their locks had expired",
          {{"redis", redis}, {"lists", group.names()}, {"runs", group.count}});
    });
}

}  // namespace w8y::app
