#include "ops/event_log.hpp"

#include <variant>

namespace w8y::ops {

namespace {

std::int64_t milliseconds(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string talker(std::string_view list, int pid) {
  return std::string(list) + ' ' + std::to_string(pid);
}

}  // namespace

EventLog::~EventLog() {
  flush();
}

void EventLog::on_event(const Event& event) {
  std::visit([this](const auto& kind) { write(kind); }, event);
}

// ---- runs

void EventLog::write(const RunStarted& event) {
  log_.debug("run started", {{"list", event.of.prefix},
                             {"item", LoggedItem(event.of.item)},
                             {"run", event.of.run},
                             {"pid", event.pid},
                             {"attempt", event.attempt}});
}

void EventLog::write(const RunProgressed& event) {
  log_.debug("progress", {{"list", event.of.prefix},
                          {"item", LoggedItem(event.of.item)},
                          {"run", event.of.run},
                          {"numerator", event.progress.numerator},
                          {"denominator", event.progress.denominator}});
}

void EventLog::write(const RunPartIgnored& event) {
  log_.warn("invalid member of complete ignored", {{"list", event.of.prefix},
                                                   {"item", LoggedItem(event.of.item)},
                                                   {"run", event.of.run},
                                                   {"reason", event.reason}});
}

void EventLog::write(const RunLineIgnored& event) {
  if (event.number > ignored_lines_logged) return;
  log_.warn("invalid protocol line ignored", {{"list", event.of.prefix},
                                              {"item", LoggedItem(event.of.item)},
                                              {"run", event.of.run},
                                              {"reason", event.reason}});
}

bool EventLog::admits(std::string_view talker, LogField of, std::string_view list) {
  const auto answer = talkers_.admit(talker);
  if (answer.left_out > 0) log_omitted(answer.left_out, of, list);
  return answer.admitted;
}

bool EventLog::admits_command(const char* kind) {
  const auto answer = commands_.admit(kind);
  if (answer.left_out > 0)
    log_.warn("command log rate-limited", {{"command", kind}, {"dropped_lines", answer.left_out}});
  return answer.admitted;
}

std::uint64_t EventLog::left_out(const std::string& list) const {
  const auto found = left_out_.find(list);
  return found == left_out_.end() ? 0 : found->second;
}

void EventLog::log_omitted(std::size_t lines, LogField of, std::string_view list) {
  left_out_[std::string(list)] += lines;
  log_.warn("child output rate-limited", {{"list", list}, of, {"dropped_lines", lines}});
}

void EventLog::write(const RunLogged& event) {
  if (!log_.enabled(LogLevel::info)) return;
  if (!admits(event.of.run, {"run", event.of.run}, event.of.prefix)) return;
  log_.info("child output", {{"list", event.of.prefix},
                             {"item", LoggedItem(event.of.item)},
                             {"run", event.of.run},
                             {"out", ChildOutput{event.line}}});
  if (event.cut)
    log_.warn("child output truncated to max_line",
              {{"list", event.of.prefix}, {"run", event.of.run}});
}

void EventLog::write(const StreamProcessEvent& event) {
  const std::string_view list = event.prefix;
  const int pid = event.pid;
  if (const auto* line = std::get_if<ProcessLine>(&event.news)) {
    if (!log_.enabled(LogLevel::info) || !admits(talker(list, pid), {"pid", pid}, list)) return;
    log_.info("child output", {{"list", list}, {"pid", pid}, {"out", ChildOutput{line->line}}});
    if (line->cut) log_.warn("child output truncated to max_line", {{"list", list}, {"pid", pid}});
  } else if (const auto* bad = std::get_if<ProcessBadLine>(&event.news)) {
    if (bad->number > ignored_lines_logged) return;
    log_.warn("invalid protocol line ignored",
              {{"list", list}, {"pid", pid}, {"reason", bad->reason}});
  } else if (const auto* over = std::get_if<ProcessEnded>(&event.news)) {
    if (const auto lines = talkers_.remove(talker(list, pid)); lines > 0)
      log_omitted(lines, {"pid", pid}, list);
    log_.write(over->early ? LogLevel::warn : LogLevel::debug,
               over->early ? "stream process exited unexpectedly" : "process ended",
               {{"list", list}, {"pid", pid}, {"reason", over->how}});
    if (over->bad_lines > ignored_lines_logged)
      log_.warn("invalid protocol lines ignored",
                {{"list", list}, {"pid", pid}, {"lines", over->bad_lines}});
  } else {
    log_.debug("process started", {{"list", list}, {"pid", pid}});
  }
}

void EventLog::write(const RunEnded& event) {
  if (const auto lines = talkers_.remove(event.of.run); lines > 0)
    log_omitted(lines, {"run", event.of.run}, event.of.prefix);
  if (std::holds_alternative<Lost>(event.outcome)) {
    log_lost_run(event);
  } else {
    log_end(event);
  }
  if (event.bad_lines > ignored_lines_logged)
    log_.warn("invalid protocol lines ignored",
              {{"list", event.of.prefix}, {"run", event.of.run}, {"lines", event.bad_lines}});
}

void EventLog::log_end(const RunEnded& event) {
  const bool good = std::holds_alternative<Succeeded>(event.outcome);
  const LogLevel level = good ? LogLevel::debug : LogLevel::warn;
  if (!log_.enabled(level)) return;
  if (good)
    return log_.write(level, "run ended",
                      {{"list", event.of.prefix},
                       {"item", LoggedItem(event.of.item)},
                       {"run", event.of.run},
                       {"outcome", outcome_name(event.outcome)},
                       {"duration_ms", milliseconds(event.duration)}});
  const std::string reason = outcome_reason(event.outcome);
  log_.write(level, "run ended",
             {{"list", event.of.prefix},
              {"item", LoggedItem(event.of.item)},
              {"run", event.of.run},
              {"outcome", outcome_name(event.outcome)},
              {"reason", reason},
              {"attempt", event.attempt},
              {"duration_ms", milliseconds(event.duration)}});
}

void EventLog::write(const RunCancelled& event) {
  if (admits_command("cancel")) log_.info("run cancelled by operator", {{"run", event.run}});
}

void EventLog::write(const SettlementAbandoned& event) {
  log_.error("settlement abandoned",
             {{"list", event.prefix}, {"run", event.run}, {"reason", event.why}});
}

void EventLog::write(const ItemQuarantined& event) {
  log_.error("item quarantined: " + std::string(event.why),
             {{"list", event.prefix}, {"item", LoggedItem(event.item)}});
}

// ---- the host

void EventLog::write(const HostReady& event) {
  log_.info("ready", {{"lists", event.lists}, {"config", event.config}});
}

void EventLog::write(const HostChanged& event) {
  switch (event.state) {
    case HostState::starting:
      break;
    case HostState::running:
      if (admits_command("resume")) log_.info("host resumed");
      break;
    case HostState::quiet:
      if (admits_command("quiet")) log_.info("host is quiet: starting no new runs");
      break;
    case HostState::draining:
      flush();  // earlier events are logged first
      log_.info("draining", {{"reason", event.why}, {"running", event.running}});
  }
}

void EventLog::write(const RunsSignalled& event) {
  flush();
  log_.warn(event.killed ? "sent SIGKILL to all runs"
                         : "sent SIGTERM to all runs, SIGKILL after kill_grace",
            {{"reason", event.why}, {"running", event.running}});
}

void EventLog::write(const ReloadStarted& event) {
  log_.info("reloading", {{"file", event.file}});
}

void EventLog::write(const ReloadNotStarted& event) {
  log_.warn("reload not started", {{"reason", event.why}});
}

void EventLog::write(const Reloaded& event) {
  if (event.lines != nullptr)
    for (const auto& line : *event.lines)
      log_.write(event.applied ? LogLevel::info : LogLevel::error, line);
  if (!event.applied) return log_.error("reload failed", {{"reason", event.text}});
  log_.info("reloaded",
            {{"result", event.text}, {"generation", event.generation}, {"config", event.config}});
}

void EventLog::write(const RedisChanged& event) {
  if (!event.connected)
    return log_.error("Redis unavailable, retrying",
                      {{"redis", event.redis}, {"reason", event.error}});
  if (event.first) return log_.info("connected to Redis", {{"redis", event.redis}});
  log_.info("Redis available again",
            {{"redis", event.redis}, {"duration_ms", milliseconds(event.away)}});
}

void EventLog::write(const GearmanChanged& event) {
  if (!event.connected)
    return log_.error("gearmand unavailable, retrying",
                      {{"server", event.server}, {"reason", event.error}});
  if (event.first) return log_.info("connected to gearmand", {{"server", event.server}});
  log_.info("gearmand available again",
            {{"server", event.server}, {"duration_ms", milliseconds(event.away)}});
}

void EventLog::write(const GearmanProblem& event) {
  log_.warn("gearmand job error",
            {{"server", event.server}, {"list", event.prefix}, {"reason", event.why}});
}

}  // namespace w8y::ops
