#include "executor/probe.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "executor/environment.hpp"
#include "executor/tail.hpp"
#include "loop/loop.hpp"
#include "process/child.hpp"
#include "process/find_program.hpp"

namespace w8y::executor {

namespace {

constexpr std::size_t max_answer = std::size_t{64} << 10;
/// Bytes of standard error that are kept, since its end has the reason.
constexpr std::size_t errors_shown = 256;
/// Pause before another attempt: a shortage of the host is no property of the program.
constexpr Duration short_of_host_pause = std::chrono::milliseconds(250);

/// Returns why a program could not be started, in the words of w8y-executor(7). It uses the error
/// of the start only: the file system may not respond.
std::string refusal_of(const NotStarted& problem) {
  const auto is = [&](int error) {
    return problem.reason.starts_with("cannot run ") &&
           problem.reason.ends_with(": " + std::generic_category().message(error));
  };
  if (is(ENOENT) || is(ENOTDIR)) return "not found";
  return is(EACCES) ? "not executable" : problem.reason;
}

/// Returns the end of standard error, in whole lines if there are any.
std::string reply_text(std::string_view errors) {
  constexpr std::string_view blank = " \t\r\n";
  if (errors.find_last_not_of(blank) == std::string_view::npos) return {};
  errors = errors.substr(0, errors.find_last_not_of(blank) + 1);
  bool cut = errors.size() > errors_shown;
  if (cut) {
    errors.remove_prefix(errors.size() - errors_shown);
    const auto line = errors.find('\n');
    if (line != std::string_view::npos) errors.remove_prefix(line + 1);
    // Not within a UTF-8 character.
    while (!errors.empty() && (static_cast<unsigned char>(errors.front()) & 0xc0) == 0x80)
      errors.remove_prefix(1);
  }
  errors = errors.substr(std::min(errors.find_first_not_of(blank), errors.size()));
  return std::string("; its standard error") + (cut ? " ends: " : ": ") + core::quote(errors);
}

}  // namespace

/// One probe: waiting → asking → answered (reported) → over (its program has ended as well). While
/// the host cannot start the program, it is retried until the timeout.
class ProcessProber::Probe : private process::ChildHandler {
 public:
  Probe(ProcessProber& prober, ProbeRequest question, Duration timeout)
      : prober_(prober),
        question_(std::move(question)),
        timeout_(timeout),
        deadline_(prober.loop_.timers()),
        again_(prober.loop_.timers()) {}

  void add(Answer answer) { callbacks_.push_back(std::move(answer)); }
  void begin();
  void report(const ProbeResult& result);
  [[nodiscard]] const ProbeRequest& question() const { return question_; }
  [[nodiscard]] bool is_over() const { return ended_; }

 private:
  // ChildHandler
  void on_begun() override { lacking_.clear(); }
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_ended(ProcessEnd end) override;

  void start();
  void reply(ProbeResult result);
  [[nodiscard]] ProbeResult classify(const ProcessEnd& end) const;

  ProcessProber& prober_;
  const ProbeRequest question_;
  const Duration timeout_;
  Timer deadline_;
  Timer again_;
  std::string lacking_;  ///< error of the last attempt to start the program
  std::vector<Answer> callbacks_;
  std::string output_;
  Tail errors_{2 * errors_shown};
  std::optional<process::Child> child_;
  bool replied_ = false;
  bool ended_ = false;
};

void ProcessProber::Probe::begin() {
  deadline_.set(prober_.loop_.now() + timeout_,
                [this] { reply(Ineligibility{lacking_.empty() ? "timed out" : lacking_}); });
  start();
}

void ProcessProber::Probe::start() {
  process::ChildOptions options;
  options.spawn.program = question_.path;
  options.spawn.argv.push_back(question_.path);
  options.spawn.argv.insert(options.spawn.argv.end(), question_.args.begin(), question_.args.end());
  options.spawn.argv.emplace_back("--caps");
  process::Account account;
  if (const auto problem = process::resolve(question_.run_as, account)) {
    ended_ = true;
    again_.set(prober_.loop_.now(), [this, problem = *problem] {
      on_ended(NotStarted{problem.text, false, problem.host_is_short()});
    });
    return;
  }
  Environment environment = basic_environment();
  set_account(environment, account);
  options.spawn.env = environment.release();
  options.spawn.credentials = account.credentials;
  options.spawn.cwd = "/";
  options.spawn.no_new_privs = true;
  options.kill_grace = timeout_;
  options.groups = prober_.groups_;
  options.service = prober_.spawns_;
  ended_ = false;
  errors_.drain();  // of an earlier attempt
  process::ChildHandler& self = *this;
  child_.emplace(prober_.loop_, std::move(options), self);
  if (child_->pid() != 0) lacking_.clear();
}

void ProcessProber::Probe::report(const ProbeResult& result) {
  for (const Answer& answer : std::exchange(callbacks_, {})) answer(ProbeResult(result));
}

void ProcessProber::Probe::on_output(process::Stream stream, std::string_view bytes) {
  if (replied_) return;
  if (stream == process::Stream::err) return errors_.add(bytes);
  if (output_.size() + bytes.size() > max_answer) {
    reply(Ineligibility{"its reply to --caps is longer than 64 KiB"});
    return;
  }
  output_ += bytes;
}

void ProcessProber::Probe::on_ended(ProcessEnd end) {
  ended_ = true;
  const auto* unstarted = std::get_if<NotStarted>(&end);
  if (unstarted != nullptr && unstarted->host_is_short && !replied_) {
    lacking_ = unstarted->reason;
    again_.set(prober_.loop_.now() + short_of_host_pause, [this] { start(); });
    return;
  }
  reply(classify(end));
}

ProbeResult ProcessProber::Probe::classify(const ProcessEnd& end) const {
  if (const auto* problem = std::get_if<NotStarted>(&end))
    return Ineligibility{refusal_of(*problem)};
  const auto* exited = std::get_if<Exited>(&end);
  if (exited == nullptr || exited->code != 0) return Ineligibility{end_text(end)};
  return parse_caps(output_);
}

void ProcessProber::Probe::reply(ProbeResult result) {
  if (!std::exchange(replied_, true)) {
    if (auto* refusal = std::get_if<Ineligibility>(&result))
      refusal->reason += reply_text(errors_.drain());
    deadline_.cancel();
    again_.cancel();
    if (!ended_) child_->kill();
    prober_.on_answer(*this, result);
  } else if (ended_) {
    prober_.sweep_.set(prober_.loop_.now(), [&prober = prober_] { prober.sweep(); });
  }
}

ProcessProber::ProcessProber(loop::Loop& loop, process::ControlGroups* groups,
                             process::SpawnService* spawns)
    : loop_(loop), groups_(groups), spawns_(spawns), needs_(loop, spawns), sweep_(loop.timers()) {}
ProcessProber::~ProcessProber() = default;

void ProcessProber::look_for(const ListConfig& rule, Duration timeout, Answer answer) {
  const Prerequisites needs = needs_of(rule);
  const ProbeRequest question{rule.executor, rule.args, rule.child->run_as};
  if (needs.none()) return probe(question, timeout, std::move(answer));
  needs_.check(needs, timeout,
               [this, question, timeout,
                answer = std::move(answer)](const std::optional<Ineligibility>& refusal) {
                 if (refusal) return answer(Ineligibility(*refusal));
                 if (question.path.empty()) return answer(Caps{});
                 probe(question, timeout, answer);
               });
}

void ProcessProber::probe(const ProbeRequest& question, Duration timeout, Answer answer) {
  auto& probe = probes_[question];
  if (!probe) {
    probe = std::make_unique<Probe>(*this, question, timeout);
    waiting_.push_back(probe.get());
  }
  probe->add(std::move(answer));
  start_next();
}

void ProcessProber::start_next() {
  while (running_ < at_once && !waiting_.empty()) {
    ++running_;
    Probe* next = waiting_.front();
    waiting_.pop_front();
    next->begin();
  }
}

void ProcessProber::on_answer(Probe& probe, const ProbeResult& result) {
  --running_;
  const auto entry = probes_.find(probe.question());
  finished_.push_back(std::move(entry->second));
  probes_.erase(entry);
  sweep_.set(loop_.now(), [this] { sweep(); });
  start_next();
  probe.report(result);
}

void ProcessProber::sweep() {
  std::erase_if(finished_, [](const auto& probe) { return probe->is_over(); });
}

}  // namespace w8y::executor
