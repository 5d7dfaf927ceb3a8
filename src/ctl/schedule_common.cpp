#include "ctl/schedule_common.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/item.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/values.hpp"
#include "schedule/schedule.hpp"

namespace w8y::ctl {

void declare_schedules(Arguments& words, Options& options) {
  words.option("-k,--key-prefix", "PREFIX", "a prefix", "Prefix of the keys (default: redbike)",
               [&options](Argument&& word) { options.schedule_prefix = prefix_of(word.text); });
  declare_raw(words, options);
}

verbs::ScheduleChanges schedules_of(const Options& options, Context& context) {
  return verbs::schedule_changes(context.connection(), options.schedule_prefix);
}

verbs::UnixSeconds unix_time_of(const char* option, const std::string& text) {
  verbs::UnixSeconds time = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, time);
  if (error == std::errc{} && at == end) return time;
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    tm parts{};
    const char* rest = strptime(text.c_str(), format, &parts);
    if (rest == end) return std::int64_t{timegm(&parts)};
  }
  throw Failure(wrong_usage, std::string(option) +
                                 " needs a Unix time, such as 1763730000, or a time in UTC, such "
                                 "as 2026-01-31T12:00:00Z, not " +
                                 escape_text(text));
}

std::string utc_text(verbs::UnixSeconds time) {
  const std::time_t seconds = time;
  tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return std::to_string(time);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

void JobWord::declare(Arguments& words, const char* what, bool or_none) {
  words.flag("--base64", "The job is given in base64", base64_);
  const auto take = [this](Argument&& word) {
    given = true;
    job = std::move(word.text);
    if (!base64_) return;
    auto bytes = base64_decode(job);
    if (!bytes)
      throw Failure(wrong_usage,
                    escape_text(job) + " is not base64, which --base64 says that the job is");
    job = std::move(*bytes);
  };
  if (or_none) {
    words.one_or_none("JOB", what, take);
  } else {
    words.one("JOB", what, take);
  }
}

std::vector<std::size_t> set_schedules(verbs::ScheduleChanges& changes,
                                       const std::vector<verbs::SetJob>& jobs,
                                       verbs::UnixSeconds now, bool force) {
  if (jobs.empty()) return {};
  if (!force)
    return changes.set_keeping_valid(jobs, [now](const std::string& stored) {
      return !std::holds_alternative<schedule::Bad>(schedule::parse_schedule(stored, now));
    });
  changes.set(jobs);
  return {};
}

std::string bad_schedule_text(const std::string& job, const std::string& why, bool unchanged) {
  return escape_text(job) + ": " + escape(why) +
         (unchanged ? "; the job keeps its valid schedule: correct the new one, or store it with "
                      "\"w8yctl schedule set --force\""
                    : "; stored with status BAD");
}

std::string job_error(const std::string& job) {
  if (job.size() > max_item) return "the name of the job is " + too_long_text();
  const std::string why = code_error(code_of(job));
  if (why.empty()) return {};
  return "the job " + escape_text(job) + " has the code " + escape_text(code_of(job)) + ", and " +
         why;
}

}  // namespace w8y::ctl
