#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/executor.hpp"
#include "executor/executor_factory.hpp"
#include "process_support.hpp"

namespace w8y::test {

/// Records all events of an executor, and fails on events that are not allowed at that time.
struct RunRecorder : RunHandler {
  struct Told {
    int pid = 0;
    std::vector<Message> messages;
    std::vector<std::string> log;
    std::vector<bool> cut;
    std::optional<RunEnd> end;

    [[nodiscard]] std::string reason() const { return end ? end_text(end->process) : "runs"; }
    [[nodiscard]] std::string all_log() const {
      std::string text;
      for (const std::string& line : log) text += line + '\n';
      return text;
    }
    [[nodiscard]] std::vector<std::string> bad_lines() const {
      std::vector<std::string> reasons;
      for (const Message& message : messages)
        if (const auto* bad = std::get_if<BadLine>(&message)) reasons.push_back(bad->reason);
      return reasons;
    }
  };

  void on_started(const RunId& run, int pid) override { has_message(run).pid = pid; }
  void on_process(int pid, const ProcessEvent& news) override {
    if (inside_call) throw std::logic_error("told from inside a call");
    if (std::holds_alternative<ProcessStarted>(news)) started.push_back(pid);
    if (const auto* line = std::get_if<ProcessLine>(&news)) process_log.emplace_back(line->line);
    if (const auto* bad = std::get_if<ProcessBadLine>(&news)) bad_lines.push_back(bad->reason);
    if (const auto* end = std::get_if<ProcessEnded>(&news)) runs_ended.push_back(*end);
  }
  void on_message(const RunId& run, Message&& message) override {
    running(run).messages.push_back(std::move(message));
  }
  void on_log(const RunId& run, std::string_view line, bool cut) override {
    running(run).log.emplace_back(line);
    running(run).cut.push_back(cut);
  }
  void on_ended(const RunId& run, RunEnd&& end) override {
    has_message(run).end = std::move(end);
    ++ended;
  }

  std::map<RunId, Told> runs;
  std::size_t ended = 0;
  // Events of stream processes.
  std::vector<int> started;
  std::vector<std::string> process_log;
  std::vector<std::string> bad_lines;
  std::vector<ProcessEnded> runs_ended;
  bool inside_call = false;  ///< set by the test around start(), stop() and kill()

 private:
  Told& has_message(const RunId& run) {
    if (inside_call) throw std::logic_error("told from inside a call");
    if (runs[run].end) throw std::logic_error("told after the end");
    return runs[run];
  }
  Told& running(const RunId& run) {
    if (has_message(run).pid == 0) throw std::logic_error("told before the start");
    return runs[run];
  }
};

/// Executor on a loop of its own.
struct Bench {
  Bench() : executor(make_any()) {}

  void start(const Claim& claim, const ListConfig& rule) {
    recorder.inside_call = true;
    executor->start(claim, std::make_shared<const ListConfig>(rule));
    recorder.inside_call = false;
  }
  void stop(const RunId& run) {
    recorder.inside_call = true;
    executor->stop(run);
    recorder.inside_call = false;
  }
  bool wait(const std::function<bool()>& fact) { return turn_until(loop, fact); }
  /// Runs a claim to its end.
  RunRecorder::Told run(const Claim& claim, const ListConfig& rule) {
    start(claim, rule);
    if (!wait([&] { return recorder.runs[claim.run].end.has_value(); }))
      throw std::runtime_error("the run did not end");
    return recorder.runs[claim.run];
  }
  /// Runs an item to its end.
  RunRecorder::Told run_item(const Item& item, const ListConfig& rule) {
    Claim claim;
    claim.run = "RUN" + std::to_string(++number);
    claim.item = item;
    claim.fence = 77;
    claim.attempt = 2;
    return run(claim, rule);
  }

  std::unique_ptr<Executor> make_any(process::ControlGroups* groups = nullptr) {
    ListConfig rule;
    rule.command = {"true"};
    return executor::make_executor(loop, {"host-1", groups}, recorder, rule, {});
  }

  loop::Loop loop;
  RunRecorder recorder;
  std::unique_ptr<Executor> executor;
  int number = 0;
};

inline ListConfig command_rule(std::vector<std::string> words) {
  ListConfig rule;
  rule.prefix = "work";
  rule.command = std::move(words);
  return rule;
}

inline ListConfig single_rule(std::string path) {
  ListConfig rule;
  rule.prefix = "work";
  rule.executor = std::move(path);
  return rule;
}

/// Items that break careless handling of bytes.
inline std::vector<Item> difficult_items() {
  return {"",
          "a:0",
          "two\nlines\n",
          "it's \"quoted\" \\ $(id) `id` *",
          "{}",
          "--caps",
          std::string("\xff\xfe\x80", 3),
          std::string(64 * 1024, 'x')};
}

}  // namespace w8y::test
