// Prints scheduled jobs in the formats of Redbike.
#include <cmath>
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/csv.hpp"
#include "ctl/failure.hpp"
#include "ctl/python_json.hpp"
#include "ctl/schedule_common.hpp"
#include "ctl/text.hpp"

namespace w8y::ctl {

namespace {

void put_text(core::JsonObject& json, const char* name, const std::optional<std::string>& text) {
  if (text) {
    json.put_bytes(name, *text);
  } else {
    json.put_json(name, "null");
  }
}

class ScheduleTell final : public Command {
 public:
  void declare(Arguments& words) override { job_.declare(words, "The job"); }

  int run(const Options& options, Context& context) override {
    const verbs::JobView job = schedules_of(options, context).view(job_.job);
    if (!options.json) {
      const auto text = [](const std::optional<std::string>& bytes) {
        return bytes ? python_string(*bytes) : "null";
      };
      std::cout << "{\n  \"status\": " << text(job.status)
                << ",\n  \"schedule\": " << text(job.schedule)
                << ",\n  \"next_run\": " << (job.next_run ? python_float(*job.next_run) : "null")
                << ",\n  \"working\": " << (job.working ? "true" : "false") << "\n}\n";
      return done;
    }
    core::AsciiObject json;
    json.put_bytes("job", job_.job);
    put_text(json, "status", job.status);
    put_text(json, "schedule", job.schedule);
    json.put_json("next_run", job.next_run && std::isfinite(*job.next_run)
                                  ? view::real_json(*job.next_run)
                                  : "null");
    json.put("working", job.working);
    print_json(json.finish());
    return done;
  }

 private:
  JobWord job_;
};

class ScheduleStatuses final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_time(words, "--before", "Only statuses of this time or earlier (default: now)",
                 before_);
  }

  int run(const Options& options, Context& context) override {
    verbs::ScheduleChanges changes = schedules_of(options, context);
    const auto statuses = changes.statuses();
    const verbs::UnixSeconds before = before_ ? *before_ : changes.now();
    core::JsonArray all;
    bool all_read = true;
    for (const auto& [job, text] : statuses) {
      const auto status = verbs::read_status(job, text);
      if (!status) {
        complain(escape_text(job) + ": the status " + escape_text(text) +
                 " is not EVENT:time; skipped");
        all_read = false;
      } else if (status->time > before) {
        continue;
      } else if (options.json) {
        core::AsciiObject one;
        one.put_bytes("job", job);
        one.put_bytes("event", status->event);
        one.put("time", status->time);
        all.add(one.finish());
      } else {
        std::cout << csv_line({record_text(options, job), record_text(options, status->event),
                               std::to_string(status->time)});
      }
    }
    if (options.json) print_json("statuses", all);
    return all_read ? done : refused;
  }

 private:
  std::optional<verbs::UnixSeconds> before_;
};

class ScheduleSchedules final : public Command {
 public:
  void declare(Arguments&) override {}

  int run(const Options& options, Context& context) override {
    core::JsonArray all;
    for (const auto& [job, schedule] : schedules_of(options, context).schedules()) {
      if (!options.json) {
        std::cout << csv_line({record_text(options, job), record_text(options, schedule)});
        continue;
      }
      core::AsciiObject one;
      one.put_bytes("job", job);
      one.put_bytes("schedule", schedule);
      all.add(one.finish());
    }
    if (options.json) print_json("schedules", all);
    return done;
  }
};

}  // namespace

const CommandMaker make_schedule_tell = new_command<ScheduleTell>;
const CommandMaker make_schedule_statuses = new_command<ScheduleStatuses>;
const CommandMaker make_schedule_schedules = new_command<ScheduleSchedules>;

}  // namespace w8y::ctl
