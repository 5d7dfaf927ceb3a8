#include "executor/stream_session.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/stream_lines.hpp"
#include "core/units.hpp"

namespace w8y::executor {

namespace {

constexpr std::size_t parsed_of_truncated_line = std::size_t{4} << 10;

}  // namespace

StreamSession::StreamSession(ListConfigPtr rule, StreamSessionHandler& handler)
    : rule_(std::move(rule)),
      handler_(handler),
      out_lines_(rule_->max_line),
      err_lines_(rule_->max_line),
      tail_(rule_->stderr_tail) {}

// ---- input

const std::string& StreamSession::begin(const RunId& id, std::string&& line) {
  OpenRun& run = open_.try_emplace(id, rule_->stderr_tail).first->second;
  run.line = std::move(line);
  input_bytes_ += run.line.size();
  run.line_end = input_bytes_;
  return run.line;
}

std::string StreamSession::cancel(const RunId& id, Instant by) {
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.replied || found->second.cancel_by) return {};
  found->second.cancel_by = by;
  ++cancels_;
  std::string line = cancel_line(id);
  input_bytes_ += line.size();
  return line;
}

bool StreamSession::give_up(const RunId& id, Instant now) {
  const auto found = open_.find(id);
  if (found == open_.end()) return false;
  if (!found->second.cancel_by) ++cancels_;
  found->second.cancel_by = now;
  return true;
}

std::optional<Instant> StreamSession::first_cancel() const {
  std::optional<Instant> first;
  for (const auto& [id, run] : open_)
    if (run.cancel_by && !run.replied && (!first || *run.cancel_by < *first)) first = run.cancel_by;
  return first;
}

// ---- output

void StreamSession::read_output(std::string_view bytes) {
  out_lines_.feed(bytes, [this](std::string_view line, bool cut) { on_line(line, cut); });
}

void StreamSession::read_errors(std::string_view bytes) {
  (open_.size() == 1 ? open_.begin()->second.stderr_tail : tail_).add(bytes);
  err_lines_.feed(bytes, [this](std::string_view line, bool cut) { on_log(line, cut); });
}

void StreamSession::finish() {
  out_lines_.finish([this](std::string_view line, bool cut) { on_line(line, cut); });
  err_lines_.finish([this](std::string_view line, bool cut) { on_log(line, cut); });
}

/// If a single run is open, log output belongs to it.
void StreamSession::on_log(std::string_view line, bool cut) {
  if (open_.size() == 1) {
    handler_.on_log(open_.begin()->first, line, cut);
  } else {
    handler_.on_news(ProcessLine{line, cut});
  }
}

void StreamSession::on_line(std::string_view line, bool cut) {
  if (cut) return on_cut_line(line);
  StreamMessage said = parse_stream_message(line);
  const auto* bad = std::get_if<BadLine>(&said.message);
  if (!said.id) return on_foreign_line(bad != nullptr ? bad->reason : "no id");
  const auto found = open_.find(*said.id);
  if (found != open_.end()) return on_message(*said.id, found->second, std::move(said.message));
  if (std::ranges::find(past_, *said.id) == past_.end())
    on_foreign_line("unknown id: " + said.id->substr(0, 80));
}

/// Finds the run of a truncated line by the start of the line. A run whose result is lost must not
/// wait for another one.
void StreamSession::on_cut_line(std::string_view line) {
  const std::string reason = "longer than " + format_size(rule_->max_line);
  const std::string_view beginning = line.substr(0, parsed_of_truncated_line);
  for (auto& [id, run] : open_) {
    if (run.replied || beginning.find('"' + id.str() + '"') == std::string_view::npos) continue;
    on_bad_line(id, run, {reason});
    if (beginning.find("\"complete\"") != std::string_view::npos)
      on_message(id, run, Complete{"{}", "its \"complete\" message is " + reason, {}, {}, {}, {}});
    return;
  }
  on_foreign_line(reason);
}

void StreamSession::on_foreign_line(const std::string& reason) {
  handler_.on_news(ProcessBadLine{reason, ++bad_lines_});
}

void StreamSession::on_message(const RunId& id, OpenRun& run, Message&& message) {
  auto* complete = std::get_if<Complete>(&message);
  if (run.replied) {  // late; a second "complete" message is always an error
    if (complete != nullptr) on_bad_line(id, run, {"a second \"complete\" message"});
    return;
  }
  if (auto* bad = std::get_if<BadLine>(&message)) return on_bad_line(id, run, std::move(*bad));
  if (const auto* print = std::get_if<Print>(&message)) run.stderr_tail.add_line(print->content);
  if (complete == nullptr) return handler_.on_message(id, std::move(message));
  has_answered_ = true;
  run.replied = true;
  run.end.complete = *complete;
  handler_.on_message(id, std::move(message));
  if (!run.end.complete->mistake.empty()) on_bad_line(id, run, {run.end.complete->mistake});
  replied_.push_back(id);
  handler_.on_answer();
}

void StreamSession::on_bad_line(const RunId& id, OpenRun& run, BadLine&& bad) {
  ++run.end.bad_lines;
  handler_.on_message(id, std::move(bad));
}

// ---- ends of runs

void StreamSession::end_answered() {
  for (RunId& id : std::exchange(replied_, {})) {
    OpenRun& run = open_.at(id);
    run.end.process = Answered{};
    run.end.stderr_tail = run.stderr_tail.drain();
    finish_run(std::move(id));
  }
}

/// Returns the log output of a run without a result, followed by the log output of no run, which
/// may have the reason. Neither removes more than half of the other.
std::string StreamSession::with_process_tail(Tail& of_run, std::string_view of_process) const {
  const std::size_t size = rule_->stderr_tail;
  const std::size_t room = std::max(size / 2, size - std::min(size, of_run.text().size()));
  if (of_process.size() > room) of_process.remove_prefix(of_process.size() - room);
  of_run.add(of_process);
  return of_run.drain();
}

void StreamSession::finish_run(RunId&& id) {
  auto run = open_.extract(id);
  if (run.mapped().cancel_by) --cancels_;
  // A ring buffer, searched only for a line that names no open run.
  RunId& place = past_.size() < max_past ? past_.emplace_back() : past_[next_past_];
  next_past_ = (next_past_ + 1) % max_past;
  place = std::move(id);
  handler_.on_run_over(run.key(), std::move(run.mapped().end));
}

std::vector<StreamItem> StreamSession::close(const std::string& how, std::uint64_t read,
                                             bool for_another, bool others_may) {
  const std::string tail = tail_.drain();
  std::vector<StreamItem> unread;
  std::vector<RunId> unanswered;
  for (auto& [id, run] : open_) {
    if (run.line_end > read && !run.cancel_by && others_may) {
      unread.push_back({id, std::move(run.line), true});
      continue;
    }
    run.end.process = Unanswered{"its process ended: " + how, for_another && !run.cancel_by};
    run.end.stderr_tail = with_process_tail(run.stderr_tail, tail);
    unanswered.push_back(id);
  }
  for (RunId& id : unanswered) finish_run(std::move(id));
  open_.clear();
  return unread;
}

}  // namespace w8y::executor
