// Lists the items of a list with their states; of a schedule, its jobs.
#include "operator/items.hpp"

#include <iostream>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/feed_jobs.hpp"
#include "operator/lists.hpp"

namespace w8y::ctl {

namespace {

using view::ItemView;

bool is_circular(SourceKind kind) {
  return kind == SourceKind::circular;
}

/// Describes the holder of the item; empty: there is no holder, or it is not known.
std::string holder_text(const ItemView& item, SourceKind kind) {
  if (!item.host.empty())
    return "on " + escape_text(item.host) + ", pid " + escape(item.pid) + ", run " +
           escape(item.run);
  if (item.state == "claimed") return "by another program";
  if (item.state == "running" && kind != SourceKind::job)
    return "by another program: " + escape_text(item.lock);
  return {};
}

std::string detail_of(const ItemView& item, SourceKind kind) {
  std::string text = holder_text(item, kind);
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (item.state == "quarantined") {
    if (item.run.empty() && item.by.empty() && item.why.empty()) add("no reason was given");
    if (!item.why.empty()) add(escape(item.why));
    if (!item.by.empty()) add("by " + escape(item.by));
    if (!item.run.empty()) add("after run " + escape(item.run));
  } else if (!item.queue.empty() && item.state == "queued") {
    add("queue " + escape_text(item.queue));
  } else if (text.empty() && !item.why.empty()) {
    add(escape(item.why));
  }
  if (item.queue_position > 0) add("position " + std::to_string(item.queue_position));
  if (item.quarantined_at_end)
    add(is_circular(kind) ? "will be quarantined at its end" : "will be stalled at its end");
  // The reason of a quarantine has the number already.
  if (item.failures > 0 && !item.why.starts_with("1 failure: ") &&
      item.why.find("consecutive failures") == std::string::npos)
    add(std::to_string(item.failures) + (kind == SourceKind::job ? " failed"
                                         : item.failures == 1    ? " failure"
                                                                 : " consecutive failures"));
  if (item.copies > 1) add(std::to_string(item.copies) + " times in the list");
  return text;
}

std::string left_text(const ItemView& item) {
  if (item.left) return rough_duration(*item.left) + " left";
  return item.lock.empty() ? "" : "no end";
}

/// Maximum bytes of a payload in a table that is not wide.
constexpr std::size_t shown_payload = 60;

std::string payload_text(const ItemView& job, bool wide) {
  const std::string payload = job.payload.value_or(std::string());
  constexpr std::size_t longest_escape = 8;
  return escape(payload, wide ? (payload.size() + 1) * longest_escape : shown_payload);
}

Table table_of(const std::vector<ItemView>& items, SourceKind kind, bool wide) {
  std::vector<Heading> headings{{is_circular(kind) ? "ITEM" : "JOB", may_be_cut}, "STATE", "AGE"};
  if (is_circular(kind)) headings.emplace_back("LOCK");
  if (kind == SourceKind::schedule) headings.insert(headings.end(), {"LEASE", "NEXT", "STATUS"});
  if (kind == SourceKind::job) headings.insert(headings.end(), {"UNTIL", {"PAYLOAD", may_be_cut}});
  headings.emplace_back("REASON", may_be_cut);
  Table table(std::move(headings));
  for (const ItemView& item : items) {
    std::vector<Cell> row{item_text(item.shown()), shaded(std::string(item.state)),
                          item.since ? since(*item.since) : std::string()};
    if (is_circular(kind)) row.emplace_back(left_text(item));
    if (kind == SourceKind::schedule) {
      row.emplace_back(item.left ? rough_duration(*item.left) + " left" : std::string());
      row.emplace_back(item.due ? time_text(*item.due) : std::string());
      row.emplace_back(
          escape(item.status.value_or("").substr(0, item.status.value_or("").find(':'))));
    }
    if (kind == SourceKind::job) {
      row.emplace_back(item.until ? time_text(*item.until) : std::string());
      row.emplace_back(payload_text(item, wide));
    }
    row.emplace_back(detail_of(item, kind));
    table.add(std::move(row));
  }
  return table;
}

std::string summary_of(const view::ItemList& found, SourceKind kind) {
  const std::string noun = is_circular(kind) ? "item" : "job";
  if (found.whole && found.states.empty()) return "no " + noun + "s";
  if (!found.whole)
    return "the first " + std::to_string(found.items.size()) + "; the " +
           (is_circular(kind) ? "list" : "schedule") + " has " + std::to_string(found.length) +
           " " + noun + (found.length == 1 ? "" : "s");
  return counted_text(found.states, noun);
}

std::string json_of(const std::string& list, const view::ItemList& found, SourceKind kind) {
  core::AsciiObject json(256);
  json.put_bytes("list", list);
  if (!found.whole || kind == SourceKind::job) json.put("length", found.length);
  json.put_json("items", core::json_array(found.items, [kind](const ItemView& item) {
                  return view::to_json(item, kind);
                }));
  return json.finish();
}

class ShowItems final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix(words, "The list, or a pattern", prefix_);
    words.option(
        "--state", "STATE",
        "free, running, delayed or quarantined; of a schedule running, queued, scheduled, "
        "finished, stopped, bad, died or orphaned; of jobs of a feed running, delayed, claimed, "
        "queued, stalled or orphaned",
        "Only items in this state",
        [this](Argument&& word) { state_ = any_item_state_of(word.text); });
    declare_limit(words, "Show at most N of each list", limit_);
  }

  int run(const Options& options, Context& context) override {
    verbs::QueryContext query = context.query_items(prefix_);
    const std::vector<std::string> prefixes = verbs::lists_of(query, prefix_);
    const bool one = prefixes == std::vector{prefix_};
    std::vector<std::string> told;
    for (const auto& prefix : prefixes) {
      const SourceKind kind = verbs::find_kind(query, prefix).value_or(SourceKind::circular);
      if (!one && kind == SourceKind::gearman) continue;
      if (!one && !options.json)
        std::cout << (&prefix == &prefixes.front() ? "" : "\n") << escape_text(prefix) << ":\n";
      if (kind != SourceKind::gearman)
        verbs::check_state(prefix, state_, view::item_states(kind), "--state");
      view::ItemList found = verbs::all_items(query, prefix, kind, state_, limit_);
      if (kind == SourceKind::job)
        verbs::read_payloads(query.redis, query.cluster(), prefix, found.items,
                             options.json || options.wide);
      if (options.json) {
        told.push_back(json_of(prefix, found, kind));
        continue;
      }
      const Table table = table_of(found.items, kind, options.wide);
      if (!table.empty()) table.print(options.wide);
      std::cout << summary_of(found, kind) << '\n';
    }
    if (options.json) print_each(told, one);
    return done;
  }

 private:
  std::string prefix_;
  std::string state_;
  std::size_t limit_ = 0;  ///< 0: all
};

}  // namespace

const CommandMaker make_items = new_command<ShowItems>;

}  // namespace w8y::ctl
