// Changes schedules: set, unset, and control to halt or resume all jobs.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/schedule_common.hpp"
#include "ctl/schedule_file.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "schedule/schedule.hpp"

namespace w8y::ctl {

namespace {

/// Times that `schedule set` prints.
constexpr std::size_t next_shown = 3;

class ScheduleSet final : public Command {
 public:
  void declare(Arguments& words) override {
    job_.declare(words, "The job; the part after its last ':' names its queue", true);
    words.one_or_none("SCHEDULE", "NOW, AT:TIME, CONTINUE, STOP, cron fields or iCalendar lines",
                      typed_);
    declare_time(words, "--after", "Start a rule at its first time after TIME (default: now)",
                 after_);
    words.option("--tz", "ZONE", "a time zone, such as Europe/Berlin",
                 "Time zone of a cron expression or of AT: (default: UTC)", zone_);
    words.option("--jitter", "DURATION", "a duration, such as 5m",
                 "Delay each run of a rule by a part of this time",
                 [this](Argument&& word) { jitter_ = jitter_of(word.text); });
    words.option("--file", "CSV", "a file", "Set all jobs of a file, or none ('-': standard input)",
                 file_);
    words.flag("--force", "Replace a valid schedule even if SCHEDULE is invalid", force_);
    words.then([this] { check(); });
  }

  int run(const Options& options, Context& context) override {
    verbs::ScheduleChanges changes = schedules_of(options, context);
    std::vector<std::string> jobs;
    if (file_) {
      jobs = set_file(options, changes);
    } else {
      set_job(options, changes);
      jobs.push_back(job_.job);
    }
    warn_if_unserved(context, options.schedule_prefix, jobs);
    return done;
  }

 private:
  void check() {
    if (file_ && (job_.given || after_ || !zone_.empty() || jitter_.count() > 0))
      throw Failure(
          wrong_usage,
          "--file excludes JOB, --after, --tz and --jitter: the file has the jobs and schedules");
    if (!file_ && !typed_)
      throw Failure(wrong_usage, "schedule set needs JOB and SCHEDULE, or --file");
    if (typed_) schedule_ = schedule_of(*typed_, zone_);
  }

  void set_job(const Options& options, verbs::ScheduleChanges& changes) const {
    if (const std::string why = job_error(job_.job); !why.empty()) throw Failure(refused, why);
    const verbs::UnixSeconds now = changes.now();
    verbs::Decision decision = verbs::decide(schedule_, now, after_);
    if (jitter_.count() > 0 && decision.why_bad.empty() &&
        (!std::holds_alternative<store::RunAt>(decision.effect) || decision.schedule != schedule_))
      throw Failure(wrong_usage, "--jitter needs a rule or a cron expression that has a next time");
    const bool unchanged =
        !set_schedules(changes, {{job_.job, decision.schedule, decision.effect, jitter_}}, now,
                       force_)
             .empty();
    const bool bad = !decision.why_bad.empty();
    if (options.json) {
      core::AsciiObject json;
      json.put("result", unchanged ? "unchanged" : bad ? "bad" : "set");
      json.put_bytes("job", job_.job);
      if (!bad) json.put_bytes("schedule", decision.schedule);
      if (!bad && jitter_.count() > 0) json.put("jitter_ms", jitter_.count());
      if (bad) json.put_bytes("reason", decision.why_bad);
      if (!bad) {
        core::JsonArray next;
        add_times(next, times_after(decision.effect, now));
        json.put_json("next", next.finish());
      }
      print_json(json.finish());
    }
    if (bad) throw Failure(refused, bad_schedule_text(job_.job, decision.why_bad, unchanged));
    if (!options.json) print_next(decision.effect, now);
    warn(job_.job, schedule_);
  }

  /// Returns the next runs of the job that was set.
  [[nodiscard]] std::vector<Due> times_after(const verbs::SetEffect& effect,
                                             verbs::UnixSeconds now) const {
    const auto* at = std::get_if<store::RunAt>(&effect);
    if (at == nullptr) return {};
    return next_times(schedule::parse_schedule(schedule_, now), std::max(now, at->time), at->time,
                      next_shown);
  }

  /// Prints to standard error: Redbike prints nothing to standard output.
  void print_next(const verbs::SetEffect& effect, verbs::UnixSeconds now) const {
    const std::string job = escape_text(job_.job);
    if (std::holds_alternative<store::Enqueue>(effect))
      return complain(job + ": next run: now" +
                      (schedule_ == "CONTINUE" ? ", and again at the end of each run" : ""));
    const std::vector<Due> times = times_after(effect, now);
    if (times.empty()) return complain(job + ": no next run");
    complain(job + (times.size() == 1 ? ": next run" : ": next runs") + late_text() +
             (times.size() == 1 ? ": " : ":") + (times.size() == 1 ? due_text(times.front()) : ""));
    if (times.size() > 1)
      for (const Due& due : times) std::cerr << "  " << due_text(due) << '\n';
  }

  /// Sets all jobs of the file or none; with --force also jobs with invalid schedules, each with a
  /// message. Returns the jobs.
  std::vector<std::string> set_file(const Options& options, verbs::ScheduleChanges& changes) const {
    ScheduleFile file = read_schedule_file(*file_);
    const bool readable = file.errors.empty();
    const verbs::UnixSeconds now = changes.now();
    std::vector<verbs::SetJob> all;
    for (auto& row : file.rows) {
      verbs::Decision decision = verbs::decide(row.schedule, now);
      if (!decision.why_bad.empty())
        file.errors.emplace(row.line, place_in(*file_, row.line) + escape_text(row.job) + ": " +
                                          escape(decision.why_bad));
      all.push_back({row.job, std::move(decision.schedule), decision.effect});
    }
    if (!file.errors.empty() && !(force_ && readable)) refuse(file, "nothing was set");
    set_schedules(changes, all, now, true);
    if (options.json) {
      core::AsciiObject json;
      json.put("result", "set");
      json.put("jobs", all.size());
      print_json(json.finish());
    }
    if (!file.errors.empty()) refuse(file, "all jobs were set, these with status BAD");
    std::vector<std::string> jobs;
    for (const auto& row : file.rows) {
      warn(row.job, row.schedule);
      jobs.push_back(row.job);
    }
    return jobs;
  }

  /// Parses a jitter. The resolution of the timeline is one second.
  static std::chrono::milliseconds jitter_of(const std::string& text) {
    const auto jitter =
        std::chrono::duration_cast<std::chrono::milliseconds>(duration_of("--jitter", text));
    if (jitter < std::chrono::seconds(1) || jitter > std::chrono::hours(7 * 24))
      throw Failure(wrong_usage, "--jitter needs a duration from 1s to 7d, such as 5m, not " +
                                     escape_text(text));
    return jitter;
  }

  [[nodiscard]] std::string late_text() const {
    return jitter_.count() == 0 ? "" : ", each later by less than " + format_duration(jitter_);
  }

  static void warn(const std::string& job, const std::string& schedule) {
    if (const std::string why = schedule::redbike_stumbles(schedule); !why.empty())
      complain("note: " + escape_text(job) + ": " + escape(why));
  }

  JobWord job_;
  std::optional<std::string> typed_;
  std::string schedule_;  ///< to be stored
  std::string zone_;      ///< empty: none
  std::optional<std::string> file_;
  std::optional<verbs::UnixSeconds> after_;
  std::chrono::milliseconds jitter_{0};
  bool force_ = false;
};

class ScheduleUnset final : public Command {
 public:
  void declare(Arguments& words) override { job_.declare(words, "The job"); }

  int run(const Options& options, Context& context) override {
    const bool was_set = schedules_of(options, context).unset(job_.job);
    if (!options.json) return done;
    core::AsciiObject json;
    json.put("result", was_set ? "unset" : "was not set");
    json.put_bytes("job", job_.job);
    print_json(json.finish());
    return done;
  }

 private:
  JobWord job_;
};

class ScheduleControl final : public Command {
 public:
  void declare(Arguments& words) override {
    words.one("SIGNAL", "HALT: no dispatch, no new runs (all hosts); RESUME: continue",
              [this](Argument&& word) { signal_ = upper(std::move(word.text)); });
  }

  int run(const Options& options, Context& context) override {
    verbs::ScheduleChanges changes = schedules_of(options, context);
    if (signal_ == "HALT") {
      changes.halt(operator_name());
    } else {
      changes.resume();
    }
    if (options.json)
      print_json(signal_ == "HALT" ? R"({"control":"HALT"})" : R"({"control":null})");
    return done;
  }

 private:
  static std::string upper(std::string word) {
    std::string known = word;
    for (char& c : known)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (known == "HALT" || known == "RESUME") return known;
    throw Failure(wrong_usage, "control needs HALT or RESUME, not " + escape_text(word));
  }

  std::string signal_;
};

}  // namespace

const CommandMaker make_schedule_set = new_command<ScheduleSet>;
const CommandMaker make_schedule_unset = new_command<ScheduleUnset>;
const CommandMaker make_schedule_control = new_command<ScheduleControl>;

}  // namespace w8y::ctl
