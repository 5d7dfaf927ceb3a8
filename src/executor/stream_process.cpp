#include "executor/stream_process.hpp"

#include <utility>
#include <variant>

#include "executor/child_options.hpp"
#include "executor/environment.hpp"
#include "loop/loop.hpp"

namespace w8y::executor {

namespace {

/// Handling time that is not charged for each result. It exceeds the time to read one, so that a
/// process is not paced for its results.
constexpr Duration time_for_answer = std::chrono::microseconds(50);

}  // namespace

StreamProcess::StreamProcess(loop::Loop& loop, StreamOwner& owner, RunHandler& handler,
                             const StreamSetting& setting)
    : loop_(loop),
      owner_(&owner),
      handler_(&handler),
      rule_(setting.rule),
      max_open_(setting.max_open),
      started_(loop.now()),
      dialogue_(rule_, static_cast<StreamSessionHandler&>(*this)),
      soon_(loop.timers()),
      age_(loop.timers()),
      grace_(loop.timers()),
      directory_(loop, setting.options.directories) {
  process::ChildOptions options;
  if (auto problem = prepare(setting, options)) {
    soon_.set(started_, [this, problem = std::move(*problem)] { on_ended(problem); });
    return;
  }
  process::ChildHandler& self = *this;
  child_.emplace(loop, std::move(options), self);
  pid_ = child_->pid();
  if (pid_ == 0) return;
  soon_.set(started_, [this] { report_begun(); });
  limit_age();
}

void StreamProcess::on_begun() {
  pid_ = child_->pid();
  started_ = loop_.now();
  limit_age();
  report_begun();
  owner_->on_room(*this);
}

void StreamProcess::limit_age() {
  if (rule_->max_age > Duration{0}) age_.set(started_ + rule_->max_age, [this] { leave(); });
}

std::optional<NotStarted> StreamProcess::prepare(const StreamSetting& setting,
                                                 process::ChildOptions& options) {
  if (auto problem = setting.accounts.find_account(rule_->child->run_as, started_))
    return not_started(*problem);
  const process::Account& account = setting.accounts.account();
  process::SpawnRequest& request = options.spawn;
  process_environment(*rule_, account, setting.options.host, request);
  request.program = rule_->executor;
  request.argv.push_back(rule_->executor);
  request.argv.insert(request.argv.end(), rule_->args->begin(), rule_->args->end());
  request.argv.emplace_back("--stream");
  request.argv.push_back(rule_->prefix);
  options.keep_input = true;
  return set_options(*rule_, account, setting.options, directory_, options);
}

// ---- input

bool StreamProcess::proven() const {
  return dialogue_.has_answered() || (pid_ != 0 && loop_.now() - started_ >= proof_by_age);
}

bool StreamProcess::accepts(std::size_t bytes) const {
  if (state_ != StreamState::serving || pid_ == 0) return false;
  if (dialogue_.cancels() > 0 || dialogue_.open() >= max_open_) return false;
  const std::size_t waiting = gathered_.size() + child_->unwritten();
  return waiting == 0 || waiting + bytes <= max_unwritten;
}

void StreamProcess::gather(const std::string& line) {
  gathered_ += line;
  if (gathered_.size() >= worth_writing) write_gathered();
}

void StreamProcess::write_gathered() {
  if (gathered_.empty()) return;
  child_->write(gathered_);
  gathered_.clear();
  if (gathered_.capacity() > 2 * worth_writing) std::string().swap(gathered_);
  // A process that has closed its input exits soon, or is stopped.
  if (state_ != StreamState::serving || !child_->input_closed()) return;
  state_ = StreamState::draining;
  if (!grace_.pending()) grace_.set(loop_.now() + rule_->kill_grace, [this] { end_it(); });
}

void StreamProcess::send(StreamItem&& item) {
  gather(dialogue_.begin(item.run, std::move(item.line)));
  ++given_;
  report_begun();
  handler_->on_started(item.run, pid_);
  if (rule_->max_items > 0 && given_ >= rule_->max_items) leave();
}

void StreamProcess::cancel(const RunId& run) {
  const std::string line = dialogue_.cancel(run, loop_.now() + rule_->kill_grace);
  if (line.empty()) return;
  gather(line);
  write_gathered();
  if (state_ == StreamState::stopping) return;
  check_cancels();
}

void StreamProcess::kill(const RunId& run) {
  if (dialogue_.give_up(run, loop_.now())) kill();
}

void StreamProcess::kill() {
  state_ = StreamState::stopping;
  grace_.cancel();
  if (child_) child_->kill();
}

void StreamProcess::leave() {
  if (state_ != StreamState::serving || pid_ == 0) return;
  state_ = StreamState::draining;
  age_.cancel();
  if (dialogue_.open() == 0) return close();
  owner_->on_leaving(*this);
}

void StreamProcess::move_to(StreamOwner& owner) {
  owner_ = &owner;
  handler_ = nullptr;
  leave();
}

void StreamProcess::close_if_done() {
  if (state_ == StreamState::draining && dialogue_.open() == 0) close();
}

void StreamProcess::close() {
  state_ = StreamState::closing_stdin;
  write_gathered();
  child_->end_input();
  grace_.set(loop_.now() + rule_->kill_grace, [this] { end_it(); });
}

/// Sets the timer that stops the process if a cancelled run has no result by its deadline.
void StreamProcess::check_cancels() {
  if (const auto first = dialogue_.first_cancel()) {
    grace_.set(*first, [this] { end_it(); });
  } else if (state_ == StreamState::serving) {
    grace_.cancel();
  }
}

void StreamProcess::end_it() {
  state_ = StreamState::stopping;
  age_.cancel();
  child_->stop();
  owner_->on_room(*this);  // there is room for another item
}

// ---- output

void StreamProcess::report_begun() {
  if (!std::exchange(reported_begun_, true)) on_news(ProcessStarted{});
}

void StreamProcess::on_output(process::Stream stream, std::string_view bytes) {
  report_begun();
  if (stream == process::Stream::out) {
    dialogue_.read_output(bytes);
  } else {
    dialogue_.read_errors(bytes);
  }
  log_lines();
}

void StreamProcess::log_lines() {
  const LineCounts heard = dialogue_.drain_lines();
  if (handler_ != nullptr && heard.output.lines + heard.errors.lines > 0) handler_->on_lines(heard);
}

void StreamProcess::on_news(const ProcessEvent& news) {
  if (handler_ != nullptr) handler_->on_process(static_cast<int>(pid_), news);
}

void StreamProcess::on_message(const RunId& run, Message&& message) {
  handler_->on_message(run, std::move(message));
}

void StreamProcess::on_log(const RunId& run, std::string_view line, bool cut) {
  handler_->on_log(run, line, cut);
}

void StreamProcess::on_answer() {
  child_->excuse(time_for_answer);
  if (dialogue_.replied_runs() == 1) soon_.set(loop_.now(), [this] { flush(); });
}

void StreamProcess::on_run_over(const RunId& run, RunEnd&& end) {
  owner_->on_run_over(*this, run, std::move(end));
}

void StreamProcess::flush() {
  dialogue_.end_answered();
  if (dialogue_.cancels() > 0 || grace_.pending()) {
    if (state_ == StreamState::serving || state_ == StreamState::draining) check_cancels();
  }
  if (state_ == StreamState::ended) return;
  close_if_done();
  owner_->on_room(*this);
}

void StreamProcess::on_ended(ProcessEnd end) {
  if (pid_ != 0) report_begun();
  dialogue_.finish();
  log_lines();
  soon_.cancel();
  age_.cancel();
  grace_.cancel();
  const bool asked = state_ == StreamState::closing_stdin || state_ == StreamState::stopping;
  const bool for_another = state_ == StreamState::stopping || dialogue_.cancels() > 0;
  const bool in_good_order =
      std::holds_alternative<Exited>(end) && std::get<Exited>(end).code == 0 && proven();
  state_ = StreamState::ended;
  flush();

  StreamEnd result;
  const std::string how = end_text(end);
  result.process = std::move(end);
  const std::size_t open = dialogue_.open();
  const std::uint64_t read =
      dialogue_.input_bytes() - gathered_.size() - (child_ ? child_->unread() : 0);
  result.unread = dialogue_.close(how, read, for_another, proven());
  // Unread items are not an error.
  result.unasked = !asked && (!in_good_order || result.unread.size() < open);
  if (pid_ != 0)
    on_news(ProcessEnded{how, result.unasked, dialogue_.bad_lines(),
                         child_ ? child_->used() : ResourceUse{}});
  owner_->on_process_ended(*this, std::move(result));
}

}  // namespace w8y::executor
