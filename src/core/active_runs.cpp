#include "core/active_runs.hpp"

#include <algorithm>
#include <utility>

#include "core/units.hpp"

namespace w8y {

namespace {

/// Returns whether the run was stopped by a timeout while it waited for a process. This is not a
/// failure of the item.
bool waited_too_long(const ActiveRun& run, const RunEnd& end) {
  const bool too_long =
      run.stopping == StopReason::timeout || run.stopping == StopReason::progress_timeout;
  const auto* unanswered = std::get_if<Unanswered>(&end.process);
  return too_long && unanswered != nullptr && unanswered->untaken;
}

Duration timeout_of(const ActiveRun& run) {
  return run.stopping == StopReason::timeout ? run.rule->timeout : run.rule->progress_timeout;
}

}  // namespace

ActiveRuns::~ActiveRuns() = default;

void ActiveRuns::start(Claim&& claim, ListConfigPtr rule, std::shared_ptr<Executor> executor) {
  if (!table_) table_ = std::make_unique<Table>(*timers_);
  Entry& run = table_->runs.try_emplace(claim.run, *timers_).first->second;
  run.claim = std::move(claim);
  run.rule = std::move(rule);
  run.executor = std::move(executor);
  run.started = clock_->now();
  run.started_wall = clock_->wall();

  start_timeouts(run);
  run.executor->start(run.claim, run.rule);
}

bool ActiveRuns::stop(const RunId& id, StopReason reason) {
  Entry* run = entry(id);
  if (run == nullptr) return false;
  if (!run->stopping) run->stopping = reason;
  run->executor->stop(id);
  return true;
}

void ActiveRuns::stop_all(StopReason reason) {
  for (Entry* run : in_order()) {
    if (!run->stopping) run->stopping = reason;
    run->executor->stop(run->claim.run);
  }
}

void ActiveRuns::kill(const RunId& id, StopReason reason) {
  Entry* run = entry(id);
  if (run == nullptr) return;
  if (!run->stopping) run->stopping = reason;
  run->executor->kill(id);
}

void ActiveRuns::kill_all(StopReason reason) {
  for (Entry* run : in_order()) {
    if (!run->stopping) run->stopping = reason;
    run->executor->kill(run->claim.run);
  }
}

void ActiveRuns::record_lease(const RunId& id, bool lost) {
  if (Entry* run = entry(id)) run->lease_lost = lost;
}

const ActiveRun* ActiveRuns::find(const RunId& id) const {
  return entry(id);
}

void ActiveRuns::each(const std::function<void(const ActiveRun&)>& visit) const {
  for (const Entry* run : in_order()) visit(*run);
}

ActiveRuns::Entry* ActiveRuns::entry(const RunId& id) const {
  if (!table_) return nullptr;
  const auto found = table_->runs.find(id);
  return found == table_->runs.end() ? nullptr : &found->second;
}

/// Run IDs are sorted by time.
std::vector<ActiveRuns::Entry*> ActiveRuns::in_order() const {
  std::vector<Entry*> all;
  if (!table_) return all;
  all.reserve(table_->runs.size());
  for (auto& [id, run] : table_->runs) all.push_back(&run);
  std::ranges::sort(all, {}, [](const Entry* run) { return run->claim.run; });
  return all;
}

void ActiveRuns::start_timeouts(Entry& run) {
  const Duration timeout = run.rule->timeout;
  if (timeout > Duration{0})
    run.timeout.set(clock_->now() + timeout,
                    [this, id = run.claim.run] { stop(id, StopReason::timeout); });
  sign_of_life(run);
}

void ActiveRuns::sign_of_life(Entry& run) {
  if (run.rule->progress_timeout <= Duration{0}) return;
  run.silence.set(clock_->now() + run.rule->progress_timeout,
                  [this, id = run.claim.run] { stop(id, StopReason::progress_timeout); });
}

void ActiveRuns::on_started(const RunId& id, int pid) {
  Entry* run = entry(id);
  if (run == nullptr) return;
  // It may have waited for a process, which does not count towards its timeouts.
  if (run->pid == 0 && !run->stopping) start_timeouts(*run);
  run->pid = pid;
  owner_->run_event(RunEvent{RunEvent::Kind::start, id, run->claim.item, {}, {}, pid});
  owner_->run_started(*run);
}

void ActiveRuns::on_message(const RunId& id, Message&& message) {
  Entry* run = entry(id);
  if (run == nullptr) return;
  if (std::holds_alternative<BadLine>(message)) {
    ++run->bad_lines;  // not a sign of life: invalid output must not keep a run alive
  } else {
    sign_of_life(*run);
  }
  if (const auto* progress = std::get_if<Progress>(&message)) {
    progressed(*run, *progress);
  } else if (const auto* update = std::get_if<Update>(&message)) {
    owner_->run_event(RunEvent{RunEvent::Kind::update, id, run->claim.item, {}, update->data, 0});
  }
  owner_->run_message(*run, message);
}

void ActiveRuns::progressed(Entry& run, const Progress& progress) {
  run.progress = progress;
  const Instant now = clock_->now();
  if (!run.progress_sent || now - *run.progress_sent >= progress_pace) {
    send_progress(run);
  } else if (!run.progress_waiting) {
    run.progress_waiting = true;
    run.progress_due.set(*run.progress_sent + progress_pace, [this, &run] { send_progress(run); });
  }
}

void ActiveRuns::send_progress(Entry& run) {
  run.progress_sent = clock_->now();
  run.progress_waiting = false;
  owner_->run_event(
      RunEvent{RunEvent::Kind::progress, run.claim.run, run.claim.item, *run.progress, {}, 0});
}

void ActiveRuns::on_log(const RunId& id, std::string_view line, bool cut) {
  Entry* run = entry(id);
  if (run == nullptr) return;
  sign_of_life(*run);
  owner_->run_logged(*run, line, cut);
}

void ActiveRuns::on_ended(const RunId& id, RunEnd&& end) {
  if (!table_) return;
  const auto found = table_->runs.find(id);
  if (found == table_->runs.end()) return;
  const auto taken = table_->runs.extract(found);
  Entry* const run = &taken.mapped();
  if (run->progress_waiting) send_progress(*run);
  table_->used.push_back(std::move(run->executor));
  if (!table_->sweep.pending()) table_->sweep.set(clock_->now(), [this] { table_->used.clear(); });

  if (waited_too_long(*run, end)) {
    // A process that received the run, reported by on_started(), may have ended before it read the
    // item.
    if (run->pid == 0)
      end.process = NotStarted{
          "no process has accepted an item for " + format_duration(timeout_of(*run)), false, true};
    run->stopping.reset();
  }
  Outcome outcome = outcome_of(*run->rule, end, run->stopping);
  // No outcome can be reported: the job server gives the job to another worker.
  if (run->lease_lost && !run->rule->traits().in_redis) outcome = Lost{};
  const Duration took = clock_->now() - run->started;
  owner_->run_over(EndedRun{std::move(run->claim), run->rule, std::move(outcome), std::move(end),
                            run->started_wall, clock_->wall()},
                   took);
}

}  // namespace w8y
