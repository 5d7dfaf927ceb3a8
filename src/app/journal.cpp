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

std::string talker(const std::string& list, int pid) {
  return list + ' ' + std::to_string(pid);
}

}  // namespace

void Journal::run_started(const Poller&, const ActiveRun& run) {
  if (events_.listens())
    events_.on_event(RunStarted{ref(run), run.pid, run.claim.attempt, run.claim.fence});
  if (!log_.enabled(LogLevel::debug)) return;
  log_.debug("run started", {{"list", run.rule->prefix},
                             {"item", run.claim.item},
                             {"run", run.claim.run},
                             {"pid", run.pid},
                             {"attempt", run.claim.attempt}});
}

void Journal::run_message(const Poller& poller, const ActiveRun& run, const Message& message) {
  if (const auto* progress = std::get_if<Progress>(&message)) {
    if (events_.listens()) events_.on_event(RunProgressed{ref(run), *progress});
    if (!log_.enabled(LogLevel::debug)) return;
    log_.debug("progress", {{"list", run.rule->prefix},
                            {"item", run.claim.item},
                            {"run", run.claim.run},
                            {"numerator", progress->numerator},
                            {"denominator", progress->denominator}});
  } else if (const auto* update = std::get_if<Update>(&message)) {
    if (events_.listens()) events_.on_event(RunUpdated{ref(run), update->data});
  } else if (const auto* print = std::get_if<Print>(&message)) {
    run_logged(poller, run, print->content, false);
  } else if (const auto* complete = std::get_if<Complete>(&message)) {
    if (complete->mistake.empty()) return;
    log_.warn("passed over a part of a complete line", {{"list", run.rule->prefix},
                                                        {"item", run.claim.item},
                                                        {"run", run.claim.run},
                                                        {"reason", complete->mistake}});
  } else if (const auto* bad = std::get_if<BadLine>(&message)) {
    if (run.bad_lines > bad_lines_logged) return;
    log_.warn("passed over a line of standard output", {{"list", run.rule->prefix},
                                                        {"item", run.claim.item},
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
  log_.warn("lines before this were left out: more than 1,000 a second",
            {{"list", list}, of, {"lines", lines}});
}

void Journal::run_logged(const Poller&, const ActiveRun& run, std::string_view line, bool cut) {
  if (!admits(run.claim.run, {"run", run.claim.run}, run.rule->prefix)) return;
  log_.info("child", {{"list", run.rule->prefix},
                      {"item", run.claim.item},
                      {"run", run.claim.run},
                      {"out", ops::Said{line}}});
  if (cut)
    log_.warn("the line before was cut: it is longer than max_line",
              {{"list", run.rule->prefix}, {"run", run.claim.run}});
}

void Journal::process_news(const Poller& poller, int pid, const ProcessNews& news) {
  const std::string& list = poller.rule().prefix;
  if (const auto* line = std::get_if<ProcessLine>(&news)) {
    if (!admits(talker(list, pid), {"pid", pid}, list)) return;
    log_.info("child", {{"list", list}, {"pid", pid}, {"out", ops::Said{line->line}}});
    if (line->cut)
      log_.warn("the line before was cut: it is longer than max_line",
                {{"list", list}, {"pid", pid}});
  } else if (const auto* bad = std::get_if<ProcessBadLine>(&news)) {
    if (bad->number > bad_lines_logged) return;
    log_.warn("passed over a line of standard output",
              {{"list", list}, {"pid", pid}, {"reason", bad->reason}});
  } else if (const auto* over = std::get_if<ProcessOver>(&news)) {
    if (const auto lines = talkers_.over(talker(list, pid)); lines > 0)
      tell_left_out(lines, {"pid", pid}, list);
    log_.write(over->early ? LogLevel::warn : LogLevel::debug,
               over->early ? "process ended, unasked" : "process ended",
               {{"list", list}, {"pid", pid}, {"reason", over->how}});
    if (over->bad_lines > bad_lines_logged)
      log_.warn("lines of standard output were no messages",
                {{"list", list}, {"pid", pid}, {"lines", over->bad_lines}});
  } else {
    log_.debug("process started", {{"list", list}, {"pid", pid}});
  }
}

void Journal::run_ended(const Poller&, const Settlement& settlement) {
  if (const auto lines = talkers_.over(settlement.claim.run); lines > 0)
    tell_left_out(lines, {"run", settlement.claim.run}, settlement.rule->prefix);
  const Duration took = std::chrono::duration_cast<Duration>(settlement.ended - settlement.started);
  if (events_.listens())
    events_.on_event(
        RunEnded{{settlement.rule->prefix, settlement.claim.run, settlement.claim.item},
                 settlement.outcome,
                 took});
  const bool good = std::holds_alternative<Succeeded>(settlement.outcome);
  const LogLevel level = good ? LogLevel::debug : LogLevel::warn;
  if (log_.enabled(level)) {
    const char* outcome = outcome_name(settlement.outcome);
    const std::string reason = outcome_reason(settlement.outcome);
    if (good) {
      log_.write(level, "run ended",
                 {{"list", settlement.rule->prefix},
                  {"item", settlement.claim.item},
                  {"run", settlement.claim.run},
                  {"outcome", outcome},
                  {"ms", milliseconds(settlement.ended - settlement.started)}});
    } else {
      log_.write(level, "run ended",
                 {{"list", settlement.rule->prefix},
                  {"item", settlement.claim.item},
                  {"run", settlement.claim.run},
                  {"outcome", outcome},
                  {"reason", reason},
                  {"attempt", settlement.claim.attempt},
                  {"ms", milliseconds(settlement.ended - settlement.started)}});
    }
  }
  if (settlement.end.bad_lines > bad_lines_logged)
    log_.warn("lines of standard output were no messages", {{"list", settlement.rule->prefix},
                                                            {"run", settlement.claim.run},
                                                            {"lines", settlement.end.bad_lines}});
  if (std::holds_alternative<Quarantine>(settlement.rest))
    log_.error("item quarantined: w8yctl release sets it free",
               {{"list", settlement.rule->prefix},
                {"item", settlement.claim.item},
                {"failures", settlement.claim.attempt}});
}

void Journal::lease_changed(const Poller&, const ActiveRun& run, bool lost) {
  events_.on_event(LeaseChanged{ref(run), !lost});
  const bool ends = run.rule->on_lease_loss == OnLeaseLoss::terminate;
  log_.warn(!lost  ? "the lock is ours again"
            : ends ? "lost the lock; the run is ended"
                   : "lost the lock; the run goes on",
            {{"list", run.rule->prefix}, {"item", run.claim.item}, {"run", run.claim.run}});
}

void Journal::state_changed(Poller& poller) {
  // Told at the end of each claim; trouble that all lists share is told by RedisWatch.
  const ClaimEnd end = poller.last_claim();
  if (poller.state() == PollerState::claiming || end == ClaimEnd::unavailable) return;
  const std::string& prefix = poller.rule().prefix;
  if (end == ClaimEnd::refused) {
    if (!refused_.insert(prefix).second) return;
    log_.error("Redis refuses this list; trying again",
               {{"list", prefix}, {"reason", poller.detail()}});
  } else if (!refused_.empty() && refused_.erase(prefix) > 0) {
    log_.info("Redis takes this list again", {{"list", prefix}});
  }
}

void Journal::shortage_changed(const Poller& poller) {
  const Shortage& shortage = poller.shortage();
  const std::string& list = poller.rule().prefix;
  if (shortage.any()) {
    log_.warn("this host can't start runs: the list waits, its items are free",
              {{"list", list}, {"reason", shortage.reason()}});
    events_.on_event(ListChanged{list, ListState::starved, shortage.reason()});
    return;
  }
  log_.info("this host can start runs again",
            {{"list", list},
             {"not_started", shortage.attempts()},
             {"ms", std::chrono::duration_cast<WallTime>(shortage.lasted()).count()}});
  events_.on_event(ListChanged{list, ListState::running, {}});
}

void Journal::list_refused(const Rule& rule, const std::string& reason) {
  const std::string& program = rule.is_command() ? rule.command.front() : rule.executor;
  log_.info("list refused on this host",
            {{"list", rule.prefix}, {"program", program}, {"reason", reason}});
  events_.on_event(ListChanged{rule.prefix, ListState::refused, reason});
}

void Journal::list_served(const Rule& rule, const Caps&) {
  const std::string& program = rule.is_command() ? rule.command.front() : rule.executor;
  log_.info("list served", {{"list", rule.prefix}, {"program", program}});
  events_.on_event(ListChanged{rule.prefix, ListState::idle, {}});
}

}  // namespace w8y::app
