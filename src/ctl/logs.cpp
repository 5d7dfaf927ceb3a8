// Prints log output of runs on any host.
#include <iostream>
#include <optional>
#include <set>
#include <string_view>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/run_matches.hpp"
#include "operator/runs.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t whole_line = std::size_t{1} << 24;

/// Prints log lines: of one run alone, or each with its item.
class LogPrinter {
 public:
  LogPrinter(bool one, bool json) : one_(one), json_(json) {}

  void line(const std::string& host, const LogLine& line) const {
    if (json_) {
      core::AsciiObject json = run_json(host, line.list, line.run, line.item);
      json.put_bytes("line", line.line);
      if (line.cut) json.put("truncated", true);
      std::cout << json.finish() << '\n';
      return;
    }
    if (!one_) std::cout << escape_text(line.item) << ": ";
    std::cout << escape(line.line, whole_line) << (line.cut ? "…" : "") << '\n';
  }
  /// Prints earlier output, line by line.
  void tail(const std::string& host, LogLine of, std::string_view text) const {
    while (!text.empty()) {
      const auto end = text.find('\n');
      of.line = text.substr(0, end);
      line(host, of);
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }
  void left_out(const std::string& host, std::size_t count) const {
    if (count == 0) return;
    if (json_) {
      core::AsciiObject json;
      json.put_bytes("host", host);
      json.put("dropped", count);
      std::cout << json.finish() << '\n';
    } else {
      std::cout << "(" << count << (count == 1 ? " line was" : " lines were")
                << " dropped: more than the limit per second)\n";
    }
  }
  void end(const std::string& host, const LogRunEnd& end) const {
    if (!json_) return;
    core::AsciiObject json = run_json(host, end.list, end.run, {});
    json.put("outcome", end.outcome);
    json.put("reason", end.reason);
    std::cout << json.finish() << '\n';
  }

 private:
  static core::AsciiObject run_json(const std::string& host, const std::string& list,
                                    const std::string& run, const std::string& item) {
    core::AsciiObject json;
    json.put_bytes("host", host);
    json.put_bytes("list", list);
    json.put("run", run);
    if (!item.empty()) json.put_bytes("item", item);
    return json;
  }

  const bool one_;
  const bool json_;
};

/// Active run in the reply of a host, with its earlier output.
struct GoingRun {
  std::string host;
  LogLine of;
  std::string tail;
};

std::vector<GoingRun> going_runs(const FleetCommandResult& outcome, const std::string& start) {
  std::vector<GoingRun> runs;
  for (const FleetReply& host : outcome.replies)
    for (const view::RunView& run : host.runs) {
      if (!std::string_view(run.status.run).starts_with(start)) continue;
      GoingRun& going = runs.emplace_back();
      going.host = host.host;
      going.of.list = run.list;
      going.of.run = run.status.run;
      going.of.item = run.status.item.beginning;
      going.tail = run.tail;
    }
  return runs;
}

class Logs final : public Command, private verbs::LogFollower::Handler {
 public:
  void declare(Arguments& words) override {
    words.one("RUN|LIST", "A run, or the start of its ID; or a list", what_);
    words.flag("-f,--follow", "Follow new output", follow_);
  }

  int run(const Options& options, Context& context) override {
    context_ = &context;
    if (is_list(context)) {
      list_ = prefix_of(what_);
    } else {
      start_ = verbs::run_id_of(what_);
    }
    printer_.emplace(!list_, options.json);
    FleetAccess fleet(options, context);
    if (follow_) return follow(context, fleet);
    FleetCommand order;
    order.kind = FleetCommandKind::logs;
    order.run = start_;
    order.list = list_;
    FleetCommandResult answer;
    try {
      answer = fleet.send(std::move(order));
    } catch (const Failure&) {  // there is no host, or none may be queried
    }
    return show(answer);
  }

 private:
  /// Returns whether the argument is a list: a known list, or a text with which no ID can start.
  [[nodiscard]] bool is_list(Context& context) const {
    if (context.lists() && context.lists()->contains(what_)) return true;
    return what_.empty() || !verbs::earliest_time(verbs::run_id_of(what_));
  }

  int show(const FleetCommandResult& answer) {
    const std::vector<GoingRun> runs = going_runs(answer, start_);
    if (!list_) check_one(runs);
    for (const GoingRun& run : runs) printer_->tail(run.host, run.of, run.tail);
    if (runs.empty()) show_finished();
    return done;
  }

  void check_one(const std::vector<GoingRun>& runs) const {
    std::set<std::string> ids;
    for (const GoingRun& run : runs) ids.insert(run.of.run);
    if (ids.size() > 1 && !ids.contains(start_))
      throw Failure(refused, "several run IDs start with " + escape_text(start_) + ": " +
                                 *ids.begin() + ", " + *std::next(ids.begin()) +
                                 (ids.size() > 2 ? ", …" : ""));
  }

  /// Prints the run, or the last run of the list.
  void show_finished() const {
    view::RunRecord run;
    if (list_) {
      verbs::QueryContext query = context_->query();
      verbs::list_runs(query, list_, {}, {.limit = 1}, [&run](view::RunRecord&& last) {
        run = std::move(last);
        return false;
      });
      if (run.run.empty()) return;
    } else {
      verbs::RunMatches matches(start_, std::nullopt);
      verbs::QueryContext query = context_->query();
      matches.add_finished(query);
      run = *matches.only().finished;
    }
    LogLine of;
    of.list = run.list;
    of.run = run.run;
    of.item = run.item.beginning;
    printer_->tail(run.host, of, run.error_output);
  }

  int follow(Context& context, FleetAccess& fleet) {
    verbs::LogFollower::Handler& self = *this;
    const auto follower = fleet.follow({start_, list_, operator_name()}, self);
    context.loop().run();
    if (failure_) throw Failure(*failure_);
    if (gone_) show_finished();
    if (vanished_)
      throw Failure(refused,
                    "the run is no longer active, and its end was not reported: its host "
                    "may have been killed; to see whether it has ended: w8yctl show " +
                        shell_argument(start_));
    return done;
  }

  void end(std::optional<Failure> failure = std::nullopt) {
    failure_ = std::move(failure);
    context_->loop().stop();
  }

  void on_followed(const FleetCommandResult& outcome) override {
    try {
      if (!outcome.error.empty() && !outcome.not_found)
        throw redis_failure(!outcome.unreachable, outcome.error);
      const std::vector<GoingRun> runs = going_runs(outcome, start_);
      if (!list_) check_one(runs);
      for (const GoingRun& run : runs) printer_->tail(run.host, run.of, run.tail);
      followed_ = true;
      for (const LogMessage& message : std::exchange(early_, {})) print(message);
      std::cout.flush();
      // The run may have ended before the hosts received the command.
      gone_ = runs.empty() && !list_ && !printed_;
      if (gone_) context_->loop().stop();
    } catch (const Failure& failure) {
      end(failure);
    }
  }

  void on_log(LogMessage&& message) override {
    if (!followed_) {
      early_.push_back(std::move(message));
      return;
    }
    print(message);
    std::cout.flush();
    if (!std::cout) end();
  }

  void on_vanished() override {
    vanished_ = true;
    context_->loop().stop();
  }

  void print(const LogMessage& message) {
    printed_ = true;
    for (const LogLine& line : message.lines) printer_->line(message.host, line);
    printer_->left_out(message.host, message.left_out);
    for (const LogRunEnd& ended : message.ended) {
      printer_->end(message.host, ended);
      if (!list_) end();
    }
  }

  std::string what_;
  bool follow_ = false;
  std::optional<std::string> list_;
  std::string start_;
  std::optional<LogPrinter> printer_;
  Context* context_ = nullptr;
  bool followed_ = false;
  bool printed_ = false;
  bool gone_ = false;      ///< no host has the run
  bool vanished_ = false;  ///< no host has it any more, and its end was not reported
  std::vector<LogMessage> early_;
  std::optional<Failure> failure_;
};

}  // namespace

const CommandMaker make_logs = new_command<Logs>;

}  // namespace w8y::ctl
