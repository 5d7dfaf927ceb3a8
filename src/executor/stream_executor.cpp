#include "executor/stream_executor.hpp"

#include <algorithm>
#include <utility>

#include "core/stream_lines.hpp"
#include "executor/retiring_streams.hpp"
#include "loop/loop.hpp"

namespace w8y::executor {

namespace {

/// Returns the number of processes: at most one per run. share_of() divides the runs evenly.
std::size_t processes_of(const ListConfig& rule) {
  return std::max<std::size_t>(std::min(rule.processes, rule.concurrency), 1);
}

std::size_t share_of(const ListConfig& rule, const Caps& caps) {
  const std::size_t processes = processes_of(rule);
  const std::size_t share = (rule.concurrency + processes - 1) / processes;
  return std::max<std::size_t>(std::min<std::size_t>(share, caps.concurrency), 1);
}

}  // namespace

StreamExecutor::StreamExecutor(loop::Loop& loop, RunHandler& handler, ExecutorOptions options,
                               const ListConfig& rule, const Caps& caps)
    : loop_(loop),
      handler_(handler),
      options_(std::move(options)),
      processes_most_(processes_of(rule)),
      max_open_(share_of(rule, caps)),
      check_timer_(loop.timers()),
      wait_timer_(loop.timers()),
      sweep_timer_(loop.timers()) {}

StreamExecutor::~StreamExecutor() {
  if (options_.retiring_streams == nullptr) return;
  for (auto& process : processes_)
    if (process->pid() != 0 && process->open() == 0)
      options_.retiring_streams->add(std::move(process));
}

void StreamExecutor::start(const Claim& claim, ListConfigPtr rule) {
  StreamItem item{claim.run, item_line(claim, rule->prefix)};
  waiting_.push_back({std::move(item), loop_.now() + options_.timeout});
  rule_ = std::move(rule);
  check_soon();
}

void StreamExecutor::stop(const RunId& run) {
  if (forget_waiting(run)) return;
  if (StreamProcess* process = find(run)) process->cancel(run);
}

void StreamExecutor::kill(const RunId& run) {
  if (forget_waiting(run)) return;
  if (StreamProcess* process = find(run)) process->kill(run);
}

std::string StreamExecutor::tail(const RunId& run) const {
  for (const auto& process : processes_)
    if (process->has(run)) return process->tail(run);
  return {};
}

void StreamExecutor::retire() {
  retired_ = true;
  check_soon();
}

StreamProcess* StreamExecutor::find(const RunId& run) {
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [&](const auto& process) { return process->has(run); });
  return found == processes_.end() ? nullptr : found->get();
}

bool StreamExecutor::forget_waiting(const RunId& run) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& one) { return one.item.run == run; });
  if (found == waiting_.end()) return false;
  found->unwanted = true;
  check_soon();
  return true;
}

// ---- items for processes

void StreamExecutor::check_soon() {
  if (!check_timer_.pending()) check_timer_.set(loop_.now(), [this] { check_processes(); });
}

void StreamExecutor::check_processes() {
  end_unwanted();
  give_out();
  give_up_overdue();
  arm();
  if (!retired_ || !waiting_.empty()) return;
  for (const auto& process : processes_)
    if (process->open() == 0) process->leave();
}

void StreamExecutor::give_out() {
  while (!waiting_.empty()) {
    StreamProcess* process = process_for(waiting_.front().item.line.size());
    if (process == nullptr) break;
    StreamItem item = std::move(waiting_.front().item);
    waiting_.pop_front();
    process->send(std::move(item));
  }
  for (const auto& process : processes_) process->write_gathered();
}

/// Returns an idle process, otherwise a new one, otherwise the one with the fewest runs.
StreamProcess* StreamExecutor::process_for(std::size_t bytes) {
  StreamProcess* best = nullptr;
  for (const auto& process : processes_) {
    if (!process->accepts(bytes)) continue;
    if (bad_ends_ > 0 && process->open() > 0 && !process->proven()) continue;
    if (best == nullptr || process->open() < best->open()) best = process.get();
  }
  if (best != nullptr && best->open() == 0) return best;
  if (!may_begin()) return best;
  StreamProcess* started = begin();
  return started != nullptr ? started : best;
}

/// Returns whether another process may start. A `draining` process does not count, since another
/// process accepts new items instead. Processes that are exiting do not count either, but
/// there are at most `processes` of them.
bool StreamExecutor::may_begin() const {
  std::size_t serving = 0;
  std::size_t idle = 0;
  std::size_t starting = 0;
  bool unproven = false;
  for (const auto& process : processes_) {
    if (process->starting()) ++starting;
    if (process->state() == StreamState::serving) {
      ++serving;
      unproven = unproven || !process->proven();
    } else if (process->open() == 0) {
      ++idle;
    }
  }
  if (starting > 0 && waiting_.size() <= starting) return false;  // each of them will have one
  if (bad_ends_ > 0 && (unproven || loop_.now() < start_at_)) return false;
  return serving < processes_most_ && idle < processes_most_;
}

StreamProcess* StreamExecutor::begin() {
  StreamOwner& self = *this;
  processes_.push_back(std::make_unique<StreamProcess>(
      loop_, self, handler_, StreamSetting{rule_, max_open_, accounts_, options_}));
  StreamProcess* started = processes_.back().get();
  return started->pid() == 0 ? nullptr : started;  // on_process_ended() follows with the reason
}

// ---- items without a process

void StreamExecutor::end_unwanted() {
  std::vector<RunId> unwanted;
  std::erase_if(waiting_, [&](const Waiting& one) {
    if (one.unwanted) unwanted.push_back(one.item.run);
    return one.unwanted;
  });
  for (const RunId& run : unwanted)
    handler_.on_ended(run, {Unanswered{"no process had accepted the item", true, true}, {}, {}, 0});
}

void StreamExecutor::end_waiting(const ProcessEnd& why) {
  const auto all = std::exchange(waiting_, {});
  for (const Waiting& one : all) handler_.on_ended(one.item.run, {why, {}, {}, 0});
}

void StreamExecutor::give_up_overdue() {
  const Instant now = loop_.now();
  std::vector<StreamItem> overdue;
  while (!waiting_.empty() && waiting_.front().until <= now) {
    overdue.push_back(std::move(waiting_.front().item));
    waiting_.pop_front();
  }
  const std::string why = now < start_at_ ? "its processes fail: " + last_end_
                                          : "no process of its executor accepts items";
  for (const StreamItem& item : overdue) {
    // A run that has started cannot be handed back.
    const ProcessEnd end =
        item.reported ? ProcessEnd(Unanswered{why}) : NotStarted{why, false, true};
    handler_.on_ended(item.run, {end, {}, {}, 0});
  }
}

void StreamExecutor::arm() {
  wait_timer_.cancel();
  if (waiting_.empty()) return;
  const Instant now = loop_.now();
  Instant next = waiting_.front().until;
  if (start_at_ > now) next = std::min(next, start_at_);
  for (const auto& process : processes_) {
    const Instant proof = process->started() + StreamProcess::proof_by_age;
    if (bad_ends_ > 0 && proof > now) next = std::min(next, proof);
  }
  wait_timer_.set(next, [this] { check_processes(); });
}

// ---- events of processes

void StreamExecutor::on_run_over(StreamProcess&, const RunId& run, RunEnd&& end) {
  handler_.on_ended(run, std::move(end));
}

void StreamExecutor::on_room(StreamProcess& process) {
  if (process.proven()) bad_ends_ = 0;
  if (!waiting_.empty() || retired_) check_soon();
}

void StreamExecutor::on_leaving(StreamProcess&) {
  if (!retired_ && may_begin()) begin();
  check_soon();
}

void StreamExecutor::on_process_ended(StreamProcess& process, StreamEnd&& end) {
  const auto place = std::find_if(processes_.begin(), processes_.end(),
                                  [&](const auto& one) { return one.get() == &process; });
  const bool proven = process.proven();
  dead_.push_back(std::move(*place));
  processes_.erase(place);
  if (!sweep_timer_.pending()) sweep_timer_.set(loop_.now(), [this] { dead_.clear(); });

  const Instant now = loop_.now();
  for (auto one = end.unread.rbegin(); one != end.unread.rend(); ++one)
    waiting_.push_front({std::move(*one), now + options_.timeout});
  if (process.pid() == 0) {
    end_waiting(end.process);
  } else {
    if (proven) bad_ends_ = 0;
    if (end.unasked) {
      const unsigned doublings = std::min(bad_ends_++, 16U);
      start_at_ = now + std::min(min_pause * (1 << doublings), max_pause);
      last_end_ = end_text(end.process);
    }
  }
  check_soon();
}

}  // namespace w8y::executor
