// Prints when jobs are due: the next times of one job, or of a rule that is not set yet; or the
// next time of all jobs.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <vector>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/schedule_common.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/stored.hpp"
#include "schedule/schedule.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t usual_count = 5;
constexpr std::size_t max_times = 100'000;

class ScheduleNext final : public Command {
 public:
  void declare(Arguments& words) override {
    job_.declare(words, "The job", true);
    words.option("--rule", "RULE", "a rule, such as FREQ=DAILY",
                 "Use this rule or cron expression, without Redis", rule_);
    declare_time(words, "--after", "With --rule: times after this one (default: now)", after_);
    words.option("--tz", "ZONE", "a time zone, such as Europe/Berlin",
                 "With --rule: time zone of a cron expression (default: UTC)", zone_);
    words.option("-n", "N", "a number", "Number of times (default: 5)",
                 [this](Argument&& word) { count_ = number_of("-n", word.text, max_times); });
    words.then([this] { check(); });
  }

  int run(const Options& options, Context& context) override {
    const std::vector<Due> times = rule_ ? of_rule() : of_job(schedules_of(options, context));
    core::JsonArray all;
    if (options.json) {
      add_times(all, times);
      print_json("times", all);
    } else {
      for (const Due& due : times) std::cout << due_text(due) << '\n';
    }
    return done;
  }

 private:
  void check() const {
    if (rule_.has_value() == job_.given)
      throw Failure(wrong_usage, "schedule next needs either JOB or --rule");
    if (after_ && !rule_) throw Failure(wrong_usage, "--after needs --rule");
    if (!zone_.empty() && !rule_) throw Failure(wrong_usage, "--tz needs --rule");
  }

  [[nodiscard]] std::vector<Due> of_rule() const {
    const verbs::UnixSeconds now = wall_now().count() / 1000;
    return follow(schedule_of(*rule_, zone_), now, after_.value_or(now), std::nullopt, "the rule");
  }

  [[nodiscard]] std::vector<Due> of_job(verbs::ScheduleChanges changes) const {
    const verbs::JobView view = changes.view(job_.job);
    if (!view.schedule && !view.status && !view.next_run)
      throw Failure(refused, "there is no job " + escape_text(job_.job));
    const verbs::UnixSeconds now = changes.now();
    const auto due = verbs::due_second(view.next_run);
    // Start of a rule that has none of its own.
    const verbs::UnixSeconds from = std::max(now, due.value_or(now));
    return follow(view.schedule.value_or("STOP"), from, from, due, escape_text(job_.job));
  }

  /// Computes the next times. `first`: already on the timeline.
  [[nodiscard]] std::vector<Due> follow(const std::string& text, verbs::UnixSeconds now,
                                        verbs::UnixSeconds after,
                                        std::optional<verbs::UnixSeconds> first,
                                        const std::string& whose) const {
    const schedule::Schedule read = schedule::parse_schedule(text, now);
    const auto* bad = std::get_if<schedule::Bad>(&read);
    if (bad != nullptr && !first) throw Failure(refused, whose + ": " + escape(bad->why));
    return next_times(read, after, first, count_);
  }

  JobWord job_;
  std::optional<std::string> rule_;
  std::string zone_;
  std::optional<verbs::UnixSeconds> after_;
  std::size_t count_ = usual_count;
};

class ScheduleList final : public Command {
 public:
  void declare(Arguments&) override {}

  int run(const Options& options, Context& context) override {
    verbs::ScheduleChanges changes = schedules_of(options, context);
    now_ = changes.now();
    for (auto& [job, schedule] : changes.schedules()) jobs_[job].schedule = std::move(schedule);
    for (const auto& [job, text] : changes.statuses())
      jobs_[job].status = verbs::read_status(job, text);
    for (const auto& [job, score] : changes.timeline()) jobs_[job].due = verbs::due_second(score);
    for (const auto& [job, failures] : changes.failures())
      if (const auto known = jobs_.find(job); known != jobs_.end())
        known->second.finished =
            failures == "0" && known->second.status && known->second.status->event == "STP";
    if (options.json) {
      print_jobs();
    } else if (jobs_.empty()) {
      std::cout << "no jobs\n";
    } else {
      print_table(options.wide);
    }
    return done;
  }

 private:
  struct Known {
    std::optional<std::string> schedule;
    std::optional<verbs::JobStatus> status;
    std::optional<verbs::UnixSeconds> due;
    bool finished = false;  ///< its last run succeeded, and its schedule has no further time
  };

  [[nodiscard]] std::string words_of(const Known& job) const {
    if (!job.schedule) return "";
    schedule::Schedule read = schedule::parse_schedule(*job.schedule, now_);
    // The schedule of a job that runs once is STOP from then on.
    if (job.due && std::holds_alternative<schedule::Stop>(read)) read = schedule::At{*job.due};
    return schedule::in_words(read, *job.schedule);
  }

  void print_table(bool wide) const {
    Table table({{"JOB", may_be_cut}, {"SCHEDULE", may_be_cut}, "NEXT", "STATUS"});
    for (const auto& [name, job] : jobs_)
      table.add({escape_text(name), escape(words_of(job)),
                 job.due ? time_text(WallTime(*job.due * 1000)) : "",
                 job.finished ? "finished"
                 : job.status ? escape(job.status->event)
                              : ""});
    table.print(wide);
  }

  void print_jobs() const {
    core::JsonArray all;
    for (const auto& [name, job] : jobs_) {
      core::AsciiObject one;
      one.put_bytes("job", name);
      if (job.schedule) {
        one.put_bytes("schedule", *job.schedule);
        one.put_bytes("description", words_of(job));
      }
      one.put_json("next", job.due ? core::json_string(utc_text(*job.due)) : "null");
      one.put_json("next_unix", job.due ? std::to_string(*job.due) : "null");
      if (job.status) {
        one.put_bytes("status", job.status->event);
        one.put("since_unix", job.status->time);
        one.put("finished", job.finished);
      }
      all.add(one.finish());
    }
    print_json("jobs", all);
  }

  verbs::UnixSeconds now_ = 0;
  std::map<verbs::Job, Known> jobs_;
};

}  // namespace

const CommandMaker make_schedule_next = new_command<ScheduleNext>;
const CommandMaker make_schedule_list = new_command<ScheduleList>;

}  // namespace w8y::ctl
