// Explains why an item of a list, or a job, does not run.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "core/units.hpp"
#include "view/kinds.hpp"
#include "view/why.hpp"
#include "view/why_phrases.hpp"

namespace w8y {

using core::sentence;
using view::view_of;

namespace {

/// Maximum number of bytes of an item in a sentence.
constexpr std::size_t max_of_item = 128;

std::string item_text(const WhyItem& item) {
  std::string text = escape_text(item.shown().beginning, max_of_item);
  if (item.shown().is_truncated()) text += " (" + std::to_string(item.length) + " bytes)";
  return text;
}

/// Returns the item as the last argument of a command.
std::string item_argument(const WhyItem& item) {
  return item.shown().is_truncated() ? "ITEM" : shell_item(item.shown().beginning);
}

/// Returns text such as "the item x of work".
std::string named(const WhyList& list, const WhyItem& item, bool capital = true) {
  return (capital ? "The " : "the ") + std::string(view_of(list).item) + " " + item_text(item) +
         " of " + core::list_text(list);
}

std::string percent_text(const Progress& progress) {
  if (!(progress.denominator > 0) || !std::isfinite(progress.numerator)) return {};
  const double part = 100 * progress.numerator / progress.denominator;
  return part >= 0 && part <= 1e6 ? std::to_string(std::lround(part)) + " % done" : "";
}

void put_run(WhySentence& told, const WhyItem& item) {
  if (!item.host.empty()) told.hosts = {item.host};
  if (!item.run.empty()) told.texts["run"] = item.run;
  if (item.since) told.numbers["since_ms"] = item.since->count();
  if (item.left)
    told.numbers["remaining_ms"] = std::chrono::duration_cast<WallTime>(*item.left).count();
}

/// Explains a lock of another program, whose value w8y does not interpret.
WhySentence other_holder(const WhyList& list, const WhyItem& item) {
  std::string text = named(list, item);
  const bool locks = list.kind->locks_items;
  if (locks && item.lock.empty()) {
    text += " is locked by another program, with an empty value";
  } else if (locks) {
    text += " is locked by another program: " + escape_text(item.lock, max_of_item);
  } else {
    text += " is claimed by another program";
    if (!item.lock.empty()) text += ": " + escape_text(item.lock, max_of_item);
    if (item.since) text += ", " + core::since_text(list, *item.since);
  }
  text += item.left
              ? "; the lock expires in " + rough_duration(*item.left) + " unless it is renewed."
              : view_of(list).no_expiry;
  WhySentence told = sentence("other_program", std::move(text));
  put_run(told, item);
  if (!item.lock.empty()) told.texts["lock"] = item.lock;
  return told;
}

std::vector<WhySentence> running(const WhyList& list, const WhyItem& item) {
  if (item.host.empty()) return {other_holder(list, item)};
  std::string text = named(list, item) + " runs on " + escape_text(item.host);
  if (item.since) text += " " + core::since_text(list, *item.since);
  if (item.progress)
    if (const std::string done = percent_text(*item.progress); !done.empty()) text += ", " + done;
  std::vector<WhySentence> all{sentence("running", text + " (run " + escape(item.run) + ").")};
  put_run(all.front(), item);
  if (item.progress) all.front().texts["progress"] = percent_text(*item.progress);
  for (WhySentence& doubt : core::doubts_about(list, item.host)) all.push_back(std::move(doubt));
  if (item.stopping)
    all.push_back(sentence("stopping", "An operator cancelled its run, which is stopping."));
  if (item.left && !list.kind->locks_items)
    all.push_back(sentence(
        "lease", "Its lease has " + rough_duration(*item.left) + " left; its host renews it."));
  if (item.quarantined_at_end)
    all.push_back(sentence("quarantined_at_end",
                           std::string("It is ") + view_of(list).kept + " when this run ends."));
  if (!item.listed)
    all.push_back(sentence("not_listed", "It is no longer in the list and does not run again."));
  return all;
}

std::string outcome_words(const std::string& outcome) {
  if (outcome == "timed_out") return "timed out";
  if (outcome == "cancelled" || outcome == "lost") return "was " + outcome;
  return escape(outcome);
}

/// Describes a failed run. `start`: "Its last run".
WhySentence failure(const WhyList& list, const char* kind, const char* start,
                    const view::RunRecord& run) {
  const WallTime ended = run.ended.value_or(WallTime{0});
  std::string text = start + (" " + outcome_words(run.outcome));
  if (!run.host.empty()) text += " on " + escape_text(run.host);
  if (ended.count() > 0) text += " " + rough_duration(list.now - ended) + " ago";
  if (!run.reason.empty()) text += ": " + escape(run.reason);
  WhySentence told = sentence(kind, core::ended(std::move(text)));
  told.texts = {{"run", run.run}, {"outcome", run.outcome}, {"reason", run.reason}};
  if (!run.host.empty()) told.hosts = {run.host};
  told.numbers["ended_ms"] = ended.count();
  return told;
}

/// Adds the last failed run from the history.
void add_failure(const WhyList& list, const WhyItem& item, std::vector<WhySentence>& all) {
  if (item.last_failure)
    all.push_back(failure(list, "last_failure", "Its last run", *item.last_failure));
}

/// Adds the last failed run and those before it.
void add_failures(const WhyList& list, const WhyItem& item, std::vector<WhySentence>& all) {
  add_failure(list, item, all);
  for (const view::RunRecord& run : item.earlier_failures)
    all.push_back(failure(list, "earlier_failure", "Before that, a run", run));
}

std::string in_a_row(std::int64_t failures) {
  return core::count_of(static_cast<std::size_t>(failures), "failure");
}

std::vector<WhySentence> delayed(const WhyList& list, const WhyItem& item) {
  std::string text = named(list, item) + " is delayed";
  std::optional<Duration> left = item.left;
  if (!left && item.until) left = *item.until - list.now;
  if (left) text += " for " + rough_duration(*left) + " more";
  if (item.failures > 0) {
    text += " after " + in_a_row(item.failures) +
            (view_of(list).counts_consecutively ? " in a row" : "");
    if (item.last_failure && !item.last_failure->reason.empty())
      text += ", the last: " + escape_text(item.last_failure->reason);
  } else if (item.why == "cooldown") {
    text += " by its cooldown, after a run that succeeded";
  }
  std::vector<WhySentence> all{
      sentence(item.failures == 0 && item.why == "cooldown" ? "cooldown" : "delayed", text + ".")};
  all.front().numbers["failures"] = item.failures;
  put_run(all.front(), item);
  return all;
}

std::vector<WhySentence> quarantined(const WhyList& list, const WhyItem& item) {
  std::string text = named(list, item) + " is quarantined";
  if (!item.by.empty()) text += " by " + escape(item.by);
  if (!item.run.empty()) text += " after run " + escape(item.run);
  if (item.since) text += " " + core::since_text(list, *item.since);
  text += item.why.empty() ? ", and no reason was given" : ": " + escape(item.why);
  std::vector<WhySentence> all{sentence("quarantined", core::ended(std::move(text)))};
  put_run(all.front(), item);
  if (!item.by.empty()) all.front().texts["by"] = item.by;
  if (!item.why.empty()) all.front().texts["reason"] = item.why;
  add_failures(list, item, all);
  all.push_back(sentence("remedy", "To run it again: w8yctl release " + core::list_argument(list) +
                                       " " + item_argument(item)));
  return all;
}

std::vector<WhySentence> unknown(const WhyList& list, const WhyItem& item) {
  if (!list.has_keys)
    return {sentence("no_list", "There is no list " + core::list_text(list) +
                                    ": Redis has none of its keys" +
                                    (core::is_pattern(list.name) ? "; give one list, not a pattern."
                                     : list.near.empty()         ? "."
                                                                 : list.near))};
  if (!list.kind->in_redis)
    return {sentence("not_known", "Only gearmand has the queued jobs of " + core::list_text(list) +
                                      "; to see active runs: w8yctl runs " +
                                      core::list_argument(list))};
  const view::KindView& kind = view_of(list);
  return {sentence("not_listed", std::string("The ") + kind.list + " " + core::list_text(list) +
                                     " has no " + kind.item + " " + item_text(item) +
                                     kind.unknown_reason)};
}

// ---- schedules

std::string rule_text(const WhyItem& item) {
  return item.words.empty() ? "" : " (" + escape(item.words) + ")";
}

bool is_late(const WhyList& list, const WhyItem& item) {
  return item.due.value_or(WallTime{0}) <= list.now;
}

std::vector<WhySentence> waiting(const WhyList& list, const WhyItem& item) {
  const WallTime due = item.due.value_or(WallTime{0});
  std::vector<WhySentence> all;
  if (!is_late(list, item)) {
    all.push_back(sentence("due", named(list, item) + " is due " + core::at_and_in(list, due) +
                                      rule_text(item) + "."));
  } else {
    all = core::hindrances(list);
    all.push_back(sentence("late", named(list, item) + " is due " + core::since_text(list, due) +
                                       rule_text(item) +
                                       ", and no host has put it in its queue yet."));
  }
  all.back().numbers["due_ms"] = due.count();
  if (!item.words.empty()) all.back().texts["rule"] = item.words;
  return all;
}

std::vector<WhySentence> ended_job(const WhyList& list, const WhyItem& item) {
  const std::string set = "To run it again: w8yctl schedule -k " + core::schedule_argument(list) +
                          " set " + item_argument(item) + " SCHEDULE";
  std::string text = named(list, item);
  std::vector<WhySentence> all;
  const std::string since = item.since ? " " + core::since_text(list, *item.since) : "";
  if (item.state == "stopped") {
    all.push_back(sentence("stopped", text + " is stopped" + since + "."));
  } else if (item.state == "finished") {
    all.push_back(sentence("finished", text + " has finished" + since +
                                           ": its run succeeded, and its schedule has no "
                                           "further time."));
  } else if (item.state == "bad") {
    all.push_back(sentence(
        "bad", text + " has a schedule that cannot be read: " + core::ended(escape(item.why))));
  } else if (item.state == "died") {
    all.push_back(sentence("died", text + " is dead (status DIE)" + since +
                                       ": a run failed, which ended its schedule."));
    add_failures(list, item, all);
  } else {
    all.push_back(sentence("orphaned", text + " is orphaned: " + core::ended(escape(item.why))));
  }
  if (item.since) all.front().numbers["since_ms"] = item.since->count();
  all.push_back(sentence("remedy", set));
  return all;
}

/// Returns whether the sentence is about a limit. It then blocks an item only until runs have
/// ended.
bool is_limit(const WhySentence& each) {
  constexpr std::array<std::string_view, 4> kinds{"limit", "full", "host_limit", "fleet_limit"};
  return std::find(kinds.begin(), kinds.end(), each.kind) != kinds.end();
}

/// Returns when the item is claimed, if the list keeps its measured rate; nullopt: not known.
std::optional<Duration> time_to_claim(const WhyItem& item) {
  if (!item.ahead || item.runs_per_second <= 0) return std::nullopt;
  const double seconds = static_cast<double>(*item.ahead + 1) / item.runs_per_second;
  if (seconds > 1e9) return std::nullopt;
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// Adds the position and, if runs start (`flows`), the time to the claim: to the numbers, and the
/// time to the text.
void put_position(WhySentence& told, const WhyItem& item, bool flows) {
  if (item.ahead) told.numbers["ahead"] = static_cast<std::int64_t>(*item.ahead);
  const auto left = flows ? time_to_claim(item) : std::nullopt;
  if (left) {
    told.text += "; estimated wait " + rough_duration(*left);
    told.numbers["wait_ms"] = std::chrono::duration_cast<WallTime>(*left).count();
  }
  told.text += '.';
}

/// Returns text such as "37 items are ahead of it".
std::string ahead_text(const WhyItem& item) {
  return (item.ahead_estimated ? "about " : "") + core::count_of(*item.ahead, "item") +
         (*item.ahead == 1 ? " is" : " are") + " ahead of it";
}

/// Explains a free item that no host can claim now. Its `ahead` is known.
WhySentence position(const WhyList& list, const WhyItem& item, bool flows) {
  WhySentence told = sentence(
      "position", named(list, item) + (*item.ahead == 0 ? " is the next to be claimed"
                                                        : " is waiting: " + ahead_text(item)));
  put_position(told, item, flows);
  return told;
}

/// Explains a free item that nothing blocks.
WhySentence ready(const WhyList& list, const WhyItem& item) {
  const std::string start = "Nothing blocks " + named(list, item, false) + ": ";
  if (item.ahead.value_or(0) == 0) return sentence("ready", start + "it is claimed soon.");
  WhySentence told = sentence("ready", start + ahead_text(item));
  put_position(told, item, true);
  return told;
}

/// Explains a job in its queue, including the next one to be claimed.
WhySentence queued(const WhyList& list, const WhyItem& item, bool flows) {
  const std::size_t others = item.queue_position > 0 ? item.queue_position - 1 : 0;
  std::string text = named(list, item);
  if (view_of(list).has_queues) {
    text += others == 0 ? " is the next in the queue " + escape_text(item.queue)
                        : " is queued behind " + core::count_of(others, "other") +
                              " in the queue " + escape_text(item.queue);
  } else {
    text += others == 0 ? " is the next to be claimed"
                        : " is at position " + std::to_string(item.queue_position) + ", behind " +
                              core::count_of(others, "other");
  }
  WhySentence told = sentence("queued", text);
  put_position(told, item, flows);
  told.numbers["position"] = static_cast<std::int64_t>(item.queue_position);
  if (!item.queue.empty()) told.texts["queue"] = item.queue;
  return told;
}

// ---- jobs of feeds

std::vector<WhySentence> stalled(const WhyList& list, const WhyItem& item) {
  // The run that stalled the job has deleted its count of failures.
  const auto& last = item.last_failure;
  const std::int64_t failures = item.failures == 0 && last && !last->stalled.empty()
                                    ? last->attempt.value_or(0)
                                    : item.failures;
  std::vector<WhySentence> all{
      sentence("stalled", named(list, item) + " is stalled" +
                              (failures > 0 ? " after " + in_a_row(failures) : "") +
                              ": it does not run until it is retried.")};
  add_failures(list, item, all);
  all.push_back(sentence("remedy", "To run it again: w8yctl job retry " +
                                       core::list_argument(list) + " " + item_argument(item)));
  return all;
}

void add_cancels(const WhyItem& item, std::vector<WhySentence>& all) {
  if (item.failures == 0) return;
  std::string text = "It was cancelled " + std::to_string(item.failures) +
                     (item.failures == 1 ? " time" : " times");
  if (item.max_failures > 0)
    text += "; it is stalled after " + std::to_string(item.max_failures) + " (max_failures)";
  WhySentence told = sentence("cancelled", text + ".");
  told.numbers = {{"failures", item.failures}, {"max_failures", item.max_failures}};
  all.push_back(std::move(told));
}

/// Explains an item that can be claimed: what prevents its run, or that nothing does.
std::vector<WhySentence> takeable(const WhyList& list, const WhyItem& item) {
  std::vector<WhySentence> all = core::hindrances(list, item.queue);
  const bool free = all.empty();
  const bool flows = std::all_of(all.begin(), all.end(), is_limit);
  const bool in_queue = view_of(list).waits_in_queue;
  if (in_queue || (!free && item.ahead && (flows || *item.ahead > 0))) {
    // In a busy list, the position is the first sentence, and the limit its cause.
    all.insert(flows ? all.begin() : all.end(),
               in_queue ? queued(list, item, flows) : position(list, item, flows));
  } else if (free) {
    all.push_back(ready(list, item));
  }
  if (item.failures > 0 && !in_queue) add_failure(list, item, all);
  if (free) {
    auto soon = core::turn_comes(list);
    for (WhySentence& each : soon) all.push_back(std::move(each));
  }
  core::add_without_reply(list, all);
  return all;
}

/// Returns whether the state ends, so that reasons of the list follow for the time after it.
bool is_passing(const WhyList& list, const WhyItem& item) {
  if (item.state == "scheduled") return !is_late(list, item);
  return item.state == "delayed" || item.state == "quarantined";
}

}  // namespace

std::vector<WhySentence> core::why_circular_item(const WhyList& list, const WhyItem& item) {
  if (item.state == "running") return running(list, item);
  if (item.state == "quarantined") return quarantined(list, item);
  if (item.state != "delayed") return takeable(list, item);
  std::vector<WhySentence> all = delayed(list, item);
  all.push_back(sentence("remedy", "To end its delay: w8yctl release " + core::list_argument(list) +
                                       " " + item_argument(item)));
  return all;
}

std::vector<WhySentence> core::why_schedule_job(const WhyList& list, const WhyItem& item) {
  if (item.state == "running") return running(list, item);
  if (item.state == "queued") return takeable(list, item);
  if (item.state == "scheduled") return waiting(list, item);
  return ended_job(list, item);
}

std::vector<WhySentence> core::why_feed_job(const WhyList& list, const WhyItem& item) {
  std::vector<WhySentence> all;
  if (item.state == "running" || item.state == "claimed") {
    all = running(list, item);
  } else if (item.state == "delayed") {
    all = delayed(list, item);
  } else if (item.state == "stalled") {
    return stalled(list, item);
  } else if (item.state == "orphaned") {
    return {sentence("orphaned", named(list, item) +
                                     " is orphaned: it is neither queued, claimed nor stalled, "
                                     "because a client stopped between two steps."),
            sentence("remedy", "Maintenance recovers it; to do so now: w8yctl job maintain " +
                                   core::list_argument(list))};
  } else {
    all = takeable(list, item);
  }
  add_cancels(item, all);
  return all;
}

Why why_item(const WhyList& list, const WhyItem& item) {
  if (item.state.empty()) return {"unknown", unknown(list, item)};
  Why why{std::string(item.state), {}};
  if (const auto explain = view_of(list).why; explain != nullptr)
    why.sentences = explain(list, item);
  for (WhySentence& each : core::last_change(list, item)) why.sentences.push_back(std::move(each));
  if (!is_passing(list, item)) return why;
  auto later = core::hindrances(list, item.queue);
  if (!later.empty())
    why.sentences.push_back(sentence("also", "In addition, its run could not start now:"));
  for (WhySentence& each : later) why.sentences.push_back(std::move(each));
  return why;
}

}  // namespace w8y
