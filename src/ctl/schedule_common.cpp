#include "ctl/schedule_common.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/item.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/values.hpp"
#include "operator/schedule_hosts.hpp"

namespace w8y::ctl {

void declare_schedules(Arguments& words, Options& options) {
  words.option("-k,--key-prefix", "PREFIX", "a prefix", "Prefix of the keys (default: redbike)",
               [&options](Argument&& word) { options.schedule_prefix = prefix_of(word.text); });
  declare_raw(words, options);
}

verbs::ScheduleChanges schedules_of(const Options& options, Context& context) {
  return verbs::schedule_changes(context.connection(), options.schedule_prefix,
                                 options.changes ? operator_name() : std::string());
}

verbs::UnixSeconds unix_time_of(const char* option, const std::string& text) {
  if (const auto time = read_integer(text, range_of<verbs::UnixSeconds>)) return *time;
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    tm parts{};
    const char* rest = strptime(text.c_str(), format, &parts);
    if (rest == text.data() + text.size()) return std::int64_t{timegm(&parts)};
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

std::string schedule_of(const std::string& typed, const std::string& zone) {
  schedule::Typed stored = schedule::as_stored(typed, zone);
  if (!stored.zone_error.empty())
    throw Failure(wrong_usage, "--tz " + escape_text(zone) + ": " + escape(stored.zone_error));
  return std::move(stored.schedule);
}

std::vector<Due> next_times(const schedule::Schedule& schedule, verbs::UnixSeconds after,
                            std::optional<verbs::UnixSeconds> first, std::size_t count) {
  const auto* rule = std::get_if<schedule::Recurrence>(&schedule);
  const auto* at = std::get_if<schedule::At>(&schedule);
  if (at != nullptr && at->time > after && !first) first = at->time;
  const bool has_zone = rule != nullptr && rule->zone() != "UTC";
  std::vector<Due> times;
  const auto add = [&](verbs::UnixSeconds time) {
    times.push_back({time, has_zone ? rule->in_zone(time) : ""});
  };
  if (first) add(*first);
  while (rule != nullptr && times.size() < count) {
    const auto next = rule->next_after(after);
    if (!next) break;
    add(*next);
    after = *next;
  }
  return times;
}

std::string due_text(const Due& due) {
  return utc_text(due.time) + (due.local.empty() ? "" : " " + due.local);
}

void add_times(core::JsonArray& all, const std::vector<Due>& times) {
  for (const Due& due : times) {
    core::AsciiObject one;
    one.put("time", utc_text(due.time));
    one.put("unix", due.time);
    if (!due.local.empty()) one.put("local", due.local);
    all.add(one.finish());
  }
}

void JobWord::declare(Arguments& words, const char* what, bool or_none) {
  words.flag("--base64", "The job is given in base64", base64_);
  const auto take = [this](Argument&& word) {
    given = true;
    job = std::move(word.text);
    if (base64_) job = decoded(std::move(job));
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

namespace {

constexpr const char* only_redbike = "until then, only a worker of Redbike can run its jobs";

/// Returns the warning about a schedule that no host has in its config.
std::string unknown_schedule(Context& context, const std::string& prefix) {
  const std::string name = escape_text(prefix);
  if (const verbs::KnownLists* lists = context.lists()) {
    if (lists->has_key_prefix(prefix))
      return "no running host of the fleet has the schedule " + name + " in its config; " +
             only_redbike;
    std::vector<std::string> names;
    lists->each([&](const std::string& list, const KindTraits& kind) {
      if (kind.has_key_prefix) names.push_back(lists->find(list)->key_prefix.value_or(list));
    });
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (const std::string_view near = core::nearest(prefix, views); !near.empty())
      return "no config has the schedule " + name + "; did you mean -k " + escape_text(near) + "?";
    if (names.size() == 1)
      return "no config has the schedule " + name + "; the only schedule in the config is -k " +
             escape_text(names.front());
  }
  return "no host of the fleet has the schedule " + name +
         " in its config; check -k, or add the list to the config; " + only_redbike;
}

}  // namespace

void warn_if_unserved(Context& context, const std::string& prefix,
                      const std::vector<std::string>& jobs) {
  const verbs::ScheduleHosts hosts = verbs::hosts_of_schedule(context.query(), prefix);
  if (!hosts.known) return;
  if (!hosts.configured) return complain("warning: " + unknown_schedule(context, prefix));
  std::string served;
  for (const std::string& code : hosts.queues)
    served += (served.empty() ? "; hosts serve " : ", ") + code;
  std::set<std::string> warned;
  for (const std::string& job : jobs) {
    const std::string code = escape(code_of(job));
    if (hosts.queues.contains(code) || !warned.insert(code).second) continue;
    complain("warning: " + escape_text(job) + ": no host of the fleet serves the queue " + code +
             " of the schedule " + escape_text(prefix) + served);
  }
}

std::string job_error(const std::string& job) {
  if (job.size() > max_item) return "the name of the job is " + too_long_text();
  const std::string why = code_error(code_of(job));
  if (why.empty()) return {};
  return "the job " + escape_text(job) + " has the code " + escape_text(code_of(job)) + ", and " +
         why;
}

}  // namespace w8y::ctl
