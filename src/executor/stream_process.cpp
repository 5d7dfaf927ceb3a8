#include "executor/stream_process.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <w8y/stream_lines.hpp>
#include <w8y/units.hpp>

#include "executor/child_options.hpp"
#include "executor/environment.hpp"
#include "loop/loop.hpp"

namespace w8y::executor {

namespace {

/// More time than reading one answer takes: a process that answers as fast as it is asked is not
/// paced.
constexpr Duration time_for_answer = std::chrono::microseconds(50);

constexpr std::size_t looked_at_of_cut_line = std::size_t{4} << 10;

}  // namespace

StreamProcess::StreamProcess(loop::Loop& loop, StreamOwner& owner, RunHandler& handler,
                             const StreamSetting& setting)
    : loop_(loop),
      owner_(&owner),
      handler_(&handler),
      rule_(setting.rule),
      most_open_(setting.most_open),
      started_(loop.now()),
      out_lines_(rule_->max_line),
      err_lines_(rule_->max_line),
      tail_(rule_->stderr_tail),
      soon_(loop.timers()),
      age_(loop.timers()),
      grace_(loop.timers()),
      folder_(loop, setting.options.folders) {
  process::ChildOptions options;
  if (auto problem = prepare(setting, options)) {
    soon_.set(started_, [this, problem = std::move(*problem)] { on_ended(problem); });
    return;
  }
  process::ChildHandler& self = *this;
  child_.emplace(loop, std::move(options), self);
  pid_ = child_->pid();
  if (pid_ == 0) return;
  soon_.set(started_, [this] { tell_begun(); });
  limit_age();
}

void StreamProcess::on_begun() {
  pid_ = child_->pid();
  started_ = loop_.now();
  limit_age();
  tell_begun();
  owner_->on_room(*this);
}

void StreamProcess::limit_age() {
  if (rule_->max_age > Duration{0}) age_.set(started_ + rule_->max_age, [this] { leave(); });
}

std::optional<NotStarted> StreamProcess::prepare(const StreamSetting& setting,
                                                 process::ChildOptions& options) {
  if (auto problem = setting.accounts.look_up(rule_->child->run_as, started_))
    return not_started(*problem);
  const process::Account& account = setting.accounts.account();
  process::SpawnRequest& request = options.spawn;
  process_environment(*rule_, account, setting.options.host, request);
  request.program = rule_->executor;
  request.argv.push_back(rule_->executor);
  request.argv.insert(request.argv.end(), rule_->args.begin(), rule_->args.end());
  request.argv.emplace_back("--stream");
  request.argv.push_back(rule_->prefix);
  options.keep_input = true;
  return set_options(*rule_, account, setting.options, folder_, options);
}

// ---- what goes in

bool StreamProcess::proven() const {
  return has_answered_ || (pid_ != 0 && loop_.now() - started_ >= proof_by_age);
}

bool StreamProcess::takes(std::size_t bytes) const {
  if (state_ != StreamState::serving || pid_ == 0 || cancels_ > 0 || open_.size() >= most_open_)
    return false;
  const std::size_t waiting = gathered_.size() + child_->unwritten();
  return waiting == 0 || waiting + bytes <= most_unwritten;
}

void StreamProcess::gather(const std::string& line) {
  gathered_ += line;
  written_ += line.size();
  if (gathered_.size() >= worth_writing) write_gathered();
}

void StreamProcess::write_gathered() {
  if (gathered_.empty()) return;
  child_->write(gathered_);
  gathered_.clear();
  if (gathered_.capacity() > 2 * worth_writing) std::string().swap(gathered_);
  // A process that reads no more exits soon, or is ended.
  if (state_ != StreamState::serving || !child_->input_closed()) return;
  state_ = StreamState::leaving;
  if (!grace_.pending()) grace_.set(loop_.now() + rule_->kill_grace, [this] { end_it(); });
}

void StreamProcess::give(StreamItem&& item) {
  OpenRun& run = open_.try_emplace(item.run, rule_->stderr_tail).first->second;
  run.line = std::move(item.line);
  gather(run.line);
  run.line_end = written_;
  ++given_;
  tell_begun();
  handler_->on_started(item.run, pid_);
  if (rule_->max_items > 0 && given_ >= rule_->max_items) leave();
}

void StreamProcess::cancel(const RunId& id) {
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.answered || found->second.cancel_by) return;
  found->second.cancel_by = loop_.now() + rule_->kill_grace;
  ++cancels_;
  gather(cancel_line(id));
  write_gathered();
  if (state_ == StreamState::ending) return;
  look_at_cancels();
}

void StreamProcess::kill(const RunId& id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  if (!found->second.cancel_by) ++cancels_;
  found->second.cancel_by = loop_.now();
  kill();
}

void StreamProcess::kill() {
  state_ = StreamState::ending;
  grace_.cancel();
  if (child_) child_->kill();
}

void StreamProcess::leave() {
  if (state_ != StreamState::serving || pid_ == 0) return;
  state_ = StreamState::leaving;
  age_.cancel();
  if (open_.empty()) return close();
  owner_->on_leaving(*this);
}

void StreamProcess::move_to(StreamOwner& owner) {
  owner_ = &owner;
  handler_ = nullptr;
  leave();
}

void StreamProcess::close_if_done() {
  if (state_ == StreamState::leaving && open_.empty()) close();
}

void StreamProcess::close() {
  state_ = StreamState::closing;
  write_gathered();
  child_->end_input();
  grace_.set(loop_.now() + rule_->kill_grace, [this] { end_it(); });
}

/// The first cancel that is not obeyed in time ends the process.
void StreamProcess::look_at_cancels() {
  std::optional<Instant> first;
  for (const auto& [id, run] : open_)
    if (run.cancel_by && !run.answered && (!first || *run.cancel_by < *first))
      first = run.cancel_by;
  if (first) {
    grace_.set(*first, [this] { end_it(); });
  } else if (state_ == StreamState::serving) {
    grace_.cancel();
  }
}

void StreamProcess::end_it() {
  state_ = StreamState::ending;
  age_.cancel();
  child_->stop();
  owner_->on_room(*this);  // a place for another
}

// ---- what comes out

void StreamProcess::tell(const ProcessNews& news) {
  if (handler_ != nullptr) handler_->on_process(static_cast<int>(pid_), news);
}

void StreamProcess::tell_begun() {
  if (!std::exchange(told_begun_, true)) tell(ProcessBegun{});
}

void StreamProcess::on_output(process::Stream stream, std::string_view bytes) {
  tell_begun();
  if (stream == process::Stream::out) {
    out_lines_.feed(bytes, [this](std::string_view line, bool cut) { on_line(line, cut); });
    return;
  }
  tail_.add(bytes);
  if (open_.size() == 1) open_.begin()->second.stderr_tail.add(bytes);
  err_lines_.feed(bytes, [this](std::string_view line, bool cut) { log(line, cut); });
}

/// While a single run is open, what is logged is about that.
void StreamProcess::log(std::string_view line, bool cut) {
  if (handler_ != nullptr && open_.size() == 1) {
    handler_->on_log(open_.begin()->first, line, cut);
  } else {
    tell(ProcessLine{line, cut});
  }
}

void StreamProcess::on_line(std::string_view line, bool cut) {
  if (cut) return on_cut_line(line);
  StreamMessage said = parse_stream_message(line);
  const auto* bad = std::get_if<BadLine>(&said.message);
  if (!said.id) return on_foreign_line(bad != nullptr ? bad->reason : "no id");
  const auto found = open_.find(*said.id);
  if (found != open_.end()) return on_message(*said.id, found->second, std::move(said.message));
  if (std::ranges::find(past_, *said.id) == past_.end())
    on_foreign_line("unknown id: " + said.id->substr(0, 80));
}

/// Finds the run of a line that was cut by what stands at its beginning: a run whose answer is lost
/// must not wait for another one.
void StreamProcess::on_cut_line(std::string_view line) {
  const std::string reason = "longer than " + format_size(rule_->max_line);
  const std::string_view beginning = line.substr(0, looked_at_of_cut_line);
  for (auto& [id, run] : open_) {
    if (run.answered || beginning.find('"' + id + '"') == std::string_view::npos) continue;
    on_bad_line(id, run, {reason});
    if (beginning.find("\"complete\"") != std::string_view::npos)
      on_message(id, run, Complete{"{}", "its complete line is " + reason, {}, {}, {}, {}});
    return;
  }
  on_foreign_line(reason);
}

void StreamProcess::on_foreign_line(const std::string& reason) {
  tell(ProcessBadLine{reason, ++bad_lines_});
}

void StreamProcess::on_message(const RunId& id, OpenRun& run, Message&& message) {
  auto* complete = std::get_if<Complete>(&message);
  if (run.answered) {  // late; a second complete is a mistake at any time
    if (complete != nullptr) on_bad_line(id, run, {"a second complete"});
    return;
  }
  if (auto* bad = std::get_if<BadLine>(&message)) return on_bad_line(id, run, std::move(*bad));
  if (complete == nullptr) return handler_->on_message(id, std::move(message));
  has_answered_ = true;
  run.answered = true;
  child_->excuse(time_for_answer);
  run.end.complete = *complete;
  handler_->on_message(id, std::move(message));
  if (!run.end.complete->mistake.empty()) on_bad_line(id, run, {run.end.complete->mistake});
  // Not at once: what it has logged about this run may wait in the other pipe.
  answered_.push_back(id);
  if (answered_.size() == 1) soon_.set(loop_.now(), [this] { flush(); });
}

void StreamProcess::on_bad_line(const RunId& id, OpenRun& run, BadLine&& bad) {
  ++run.end.bad_lines;
  handler_->on_message(id, std::move(bad));
}

/// Ends the runs that are answered for.
void StreamProcess::flush() {
  for (RunId& id : std::exchange(answered_, {})) {
    OpenRun& run = open_.at(id);
    run.end.process = Answered{};
    run.end.stderr_tail = run.stderr_tail.take();
    over(std::move(id));
  }
  if (cancels_ > 0 || grace_.pending()) {
    if (state_ == StreamState::serving || state_ == StreamState::leaving) look_at_cancels();
  }
  if (state_ == StreamState::ended) return;
  close_if_done();
  owner_->on_room(*this);
}

void StreamProcess::over(RunId&& id) {
  auto run = open_.extract(id);
  if (run.mapped().cancel_by) --cancels_;
  // A ring: it is looked through only for a line that names no open run.
  RunId& place = past_.size() < most_past ? past_.emplace_back() : past_[next_past_];
  next_past_ = (next_past_ + 1) % most_past;
  place = std::move(id);
  owner_->on_run_over(*this, run.key(), std::move(run.mapped().end));
}

void StreamProcess::on_ended(ProcessEnd end) {
  if (pid_ != 0) tell_begun();
  out_lines_.finish([this](std::string_view line, bool cut) { on_line(line, cut); });
  err_lines_.finish([this](std::string_view line, bool cut) { log(line, cut); });
  soon_.cancel();
  age_.cancel();
  grace_.cancel();
  const bool asked = state_ == StreamState::closing || state_ == StreamState::ending;
  const bool for_another = state_ == StreamState::ending || cancels_ > 0;
  const bool in_good_order =
      std::holds_alternative<Exited>(end) && std::get<Exited>(end).code == 0 && proven();
  state_ = StreamState::ended;
  flush();

  StreamEnd result;
  const std::string how = end_text(end);
  result.process = std::move(end);
  result.unasked = !asked && (!in_good_order || !open_.empty());
  const std::uint64_t read = written_ - gathered_.size() - (child_ ? child_->unread() : 0);
  const std::string tail = tail_.take();
  std::vector<RunId> unanswered;
  for (auto& [id, run] : open_) {
    if (run.line_end > read && !run.cancel_by && proven()) {
      result.unread.push_back({id, std::move(run.line), true});
      continue;
    }
    run.end.process = Unanswered{"its process ended: " + how, for_another && !run.cancel_by};
    run.end.stderr_tail = tail;
    unanswered.push_back(id);
  }
  if (result.unread.size() == open_.size()) result.unasked = result.unasked && !in_good_order;
  for (RunId& id : unanswered) over(std::move(id));
  open_.clear();
  if (pid_ != 0) tell(ProcessOver{how, result.unasked, bad_lines_});
  owner_->on_process_ended(*this, std::move(result));
}

}  // namespace w8y::executor
