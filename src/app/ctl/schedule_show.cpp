// What is known of scheduled jobs, in the forms that Redbike writes.
#include <cmath>
#include <iostream>
#include <optional>

#include "app/ctl/commands.hpp"
#include "app/ctl/csv.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/python_json.hpp"
#include "app/ctl/schedule_common.hpp"
#include "app/ctl/text.hpp"
#include "core/escape.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

void put_text(Json& json, const char* name, const std::optional<std::string>& text) {
  if (text) {
    ops::put_bytes(json, name, *text);
  } else {
    json[name] = nullptr;
  }
}

class ScheduleTell final : public Command {
 public:
  void declare(Words& words) override { job_.declare(words, "The job"); }

  int run(const Options& options, Context& context) override {
    const store::JobView view = schedules_of(options, context).view(job_.job);
    if (!options.json) {
      const auto text = [](const std::optional<std::string>& bytes) {
        return bytes ? python_string(*bytes) : "null";
      };
      std::cout << "{\n  \"status\": " << text(view.status)
                << ",\n  \"schedule\": " << text(view.schedule)
                << ",\n  \"next_run\": " << (view.next_run ? python_float(*view.next_run) : "null")
                << ",\n  \"working\": " << (view.working ? "true" : "false") << "\n}\n";
      return done;
    }
    Json json;
    ops::put_bytes(json, "job", job_.job);
    put_text(json, "status", view.status);
    put_text(json, "schedule", view.schedule);
    json["next_run"] =
        view.next_run && std::isfinite(*view.next_run) ? Json(*view.next_run) : Json();
    json["working"] = view.working;
    print_json(json);
    return done;
  }

 private:
  JobWord job_;
};

class ScheduleStatuses final : public Command {
 public:
  void declare(Words& words) override {
    words.option("--before", "T", "a time, such as 2026-01-31T12:00:00Z",
                 "Only those of this time or before it (default: now)",
                 [this](Word&& word) { before_ = unix_time_of("--before", word.text); });
  }

  int run(const Options& options, Context& context) override {
    store::ScheduleChanges changes = schedules_of(options, context);
    const auto statuses = changes.statuses();
    const store::UnixSeconds before = before_ ? *before_ : changes.now();
    Json all = Json::array();
    bool all_read = true;
    for (const auto& [job, text] : statuses) {
      const auto status = store::read_status(job, text);
      if (!status) {
        complain(escape_text(job) + ": the status " + escape_text(text) +
                 " is not as EVENT:time; left out");
        all_read = false;
      } else if (status->time > before) {
        continue;
      } else if (options.json) {
        Json one;
        ops::put_bytes(one, "job", job);
        ops::put_bytes(one, "event", status->event);
        one["time"] = status->time;
        all.push_back(std::move(one));
      } else {
        std::cout << csv_line({record_text(options, job), record_text(options, status->event),
                               std::to_string(status->time)});
      }
    }
    if (options.json) print_json({{"statuses", std::move(all)}});
    return all_read ? done : refused;
  }

 private:
  std::optional<store::UnixSeconds> before_;
};

class ScheduleSchedules final : public Command {
 public:
  void declare(Words&) override {}

  int run(const Options& options, Context& context) override {
    Json all = Json::array();
    for (const auto& [job, schedule] : schedules_of(options, context).schedules()) {
      if (!options.json) {
        std::cout << csv_line({record_text(options, job), record_text(options, schedule)});
        continue;
      }
      Json one;
      ops::put_bytes(one, "job", job);
      ops::put_bytes(one, "schedule", schedule);
      all.push_back(std::move(one));
    }
    if (options.json) print_json({{"schedules", std::move(all)}});
    return done;
  }
};

}  // namespace

CommandPtr make_schedule_tell() {
  return std::make_unique<ScheduleTell>();
}

CommandPtr make_schedule_statuses() {
  return std::make_unique<ScheduleStatuses>();
}

CommandPtr make_schedule_schedules() {
  return std::make_unique<ScheduleSchedules>();
}

}  // namespace w8y::app::ctl
