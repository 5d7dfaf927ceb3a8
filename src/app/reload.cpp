#include "app/reload.hpp"

#include <utility>

namespace w8y::app {

namespace {

using Kind = api::CommandResult::Kind;

constexpr const char* draining = "this host is draining";
constexpr const char* unchanged = "; nothing was changed";

std::string changes_text(std::size_t changes) {
  if (changes == 0) return "nothing has changed";
  return changes == 1 ? "1 change" : std::to_string(changes) + " changes";
}

void reply_all(const std::vector<Reload::Answer>& answers, const api::CommandResult& result) {
  for (const auto& answer : answers) answer(result);
}

/// Returns the first error, with the number of the others; `why` if there are no lines.
std::string first_error(const std::string& why, const std::vector<std::string>& lines) {
  if (lines.empty()) return why;
  const std::size_t others = lines.size() - 1;
  return lines.front() + (others == 0   ? ""
                          : others == 1 ? " (and 1 more error)"
                                        : " (and " + std::to_string(others) + " more errors)");
}

}  // namespace

Reload::Reload(const Clock& clock, TimerQueue& timers, std::string file, ReloadSteps& steps,
               EventHandler& events)
    : clock_(clock), file_(std::move(file)), steps_(steps), events_(events), due_(timers) {}

void Reload::started() {
  if (state_ != ReloadState::starting) return;
  set_state(ReloadState::idle);
  start_next();
}

void Reload::request(Answer answer) {
  if (state_ == ReloadState::closed || file_ == "-") {
    const char* why = file_ == "-" && state_ != ReloadState::closed
                          ? "the config came from standard input: there is no file to read"
                          : draining;
    events_.on_event(ReloadNotStarted{why});
    if (answer) answer({Kind::refused, why, {}, {}});
    return;
  }
  // A due reload has not read the file yet, so that it serves this request too.
  const bool now = state_ == ReloadState::idle || state_ == ReloadState::due;
  if (answer) (now ? callbacks_ : next_answers_).push_back(std::move(answer));
  if (!now) again_ = true;
  if (state_ == ReloadState::idle) begin();
}

void Reload::begin() {
  attempt_ = std::make_shared<Attempt>();
  attempt_->running = steps_.in_force();
  set_state(ReloadState::reading);
  events_.on_event(ReloadStarted{file_});
  steps_.read(attempt_->running, while_it_goes_on(&Reload::was_read));
}

/// Returns a callback that does nothing after the end of the current reload or of this object.
template <typename Value>
std::function<void(Value)> Reload::while_it_goes_on(void (Reload::*step)(Value)) {
  return [this, step, attempt = std::weak_ptr<Attempt>(attempt_)](Value value) {
    if (!attempt.expired()) (this->*step)(std::forward<Value>(value));
  };
}

void Reload::was_read(config::LoadResult&& result) {
  attempt_->wanted = std::move(result.config);
  if (!attempt_->wanted)
    return fail("the config has errors" + std::string(unchanged), std::move(result.errors));
  if (steps_.same_connection(*attempt_->running, *attempt_->wanted)) return prepare();
  set_state(ReloadState::connecting);
  steps_.connect(*attempt_->wanted, while_it_goes_on(&Reload::was_connected));
}

void Reload::was_connected(const std::string& why) {
  if (state_ != ReloadState::connecting) return;  // the result was reported already
  if (!why.empty()) return fail("the new Redis is unavailable (" + why + ")" + unchanged, {});
  prepare();
}

void Reload::prepare() {
  set_state(ReloadState::preparing);
  if (const std::string why = steps_.prepare(*attempt_->running, *attempt_->wanted); !why.empty())
    return fail(why + unchanged, {});
  set_state(ReloadState::applying);
  steps_.apply(attempt_->wanted, while_it_goes_on(&Reload::was_applied));
}

void Reload::was_applied(const ReloadPlan& plan) {
  std::vector<std::string> lines = plan.lines();
  last_ = {changes_text(lines.size()), clock_.wall(), false};
  events_.on_event(Reloaded{true, steps_.generation(), last_.text, &lines, attempt_->wanted->hash});
  steps_.discard(std::move(attempt_->running));
  finish({Kind::done, "reloaded: " + last_.text, std::move(lines), {}});
}

void Reload::fail(const std::string& why, std::vector<std::string> lines) {
  steps_.abandon();
  last_ = {"failed: " + first_error(why, lines), clock_.wall(), true};
  events_.on_event(Reloaded{false, steps_.generation(), why, &lines, {}});
  if (attempt_->wanted) steps_.discard(std::move(attempt_->wanted));
  finish({Kind::invalid, why, std::move(lines), {}});
}

void Reload::finish(const api::CommandResult& result) {
  attempt_.reset();
  const auto answers = std::exchange(callbacks_, {});
  set_state(ReloadState::idle);
  start_next();
  reply_all(answers, result);
}

/// Starts the next reload from the loop, because this may be a callback of the supervisor.
void Reload::start_next() {
  if (!std::exchange(again_, false)) return;
  callbacks_ = std::exchange(next_answers_, {});
  set_state(ReloadState::due);
  due_.set(clock_.now(), [this] { begin(); });
}

void Reload::close() {
  if (state_ == ReloadState::closed) return;
  if (attempt_) steps_.abandon();
  attempt_.reset();
  due_.cancel();
  again_ = false;
  set_state(ReloadState::closed);
  auto answers = std::exchange(callbacks_, {});
  for (auto& answer : std::exchange(next_answers_, {})) answers.push_back(std::move(answer));
  reply_all(answers, {Kind::refused, std::string(draining) + unchanged, {}, {}});
}

}  // namespace w8y::app
