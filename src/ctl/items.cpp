// Lists the items of a list with their states; of a schedule, its jobs.
#include "operator/items.hpp"

#include <functional>
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
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "view/kinds.hpp"

namespace w8y::ctl {

namespace {

using view::ItemView;
using view::KindView;

/// Surfaces of items whose locks name the holder, even if the holder is another program.
constexpr unsigned with_lock = view::circular_item | view::schedule_job;

/// Describes the holder of the item; empty: there is no holder, or it is not known.
std::string holder_text(const ItemView& item, const KindView& kind) {
  if (!item.host.empty())
    return "on " + escape_text(item.host) + ", pid " + escape(item.pid) + ", run " +
           escape(item.run);
  if (item.state == "claimed") return "by another program";
  if (item.state == "running" && (kind.surface & with_lock) != 0)
    return "by another program: " + escape_text(item.lock);
  return {};
}

std::string detail_of(const ItemView& item, const KindView& kind) {
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
  if (item.quarantined_at_end) add(std::string("will be ") + kind.kept + " at its end");
  // The reason of a quarantine has the number already.
  if (item.failures > 0 && !item.why.starts_with("1 failure: ") &&
      item.why.find("consecutive failures") == std::string::npos)
    add(std::to_string(item.failures) + (!kind.counts_consecutively ? " failed"
                                         : item.failures == 1       ? " failure"
                                                                    : " consecutive failures"));
  if (item.copies > 1) add(std::to_string(item.copies) + " times in the list");
  return text;
}

std::string left_text(const ItemView& item) {
  return item.left ? rough_duration(*item.left) + " left" : "";
}

/// Maximum bytes of a payload in a table that is not wide.
constexpr std::size_t shown_payload = 60;

std::string payload_text(const ItemView& job, bool wide) {
  const std::string payload = job.payload.value_or(std::string());
  constexpr std::size_t longest_escape = 8;
  return escape(payload, wide ? (payload.size() + 1) * longest_escape : shown_payload);
}

struct ItemColumn {
  Heading heading;
  unsigned surfaces;  ///< surfaces of the items that have this column
  std::function<Cell(const ItemView& item)> text;
};

std::vector<ItemColumn> item_columns(const KindView& kind, bool wide) {
  using namespace view;
  constexpr unsigned all = circular_item | schedule_job | feed_job;
  std::vector<ItemColumn> columns{
      {{kind.surface == circular_item ? "ITEM" : "JOB", may_be_cut},
       all,
       [](const ItemView& item) { return item_text(item.shown()); }},
      {"STATE", all, [](const ItemView& item) { return shaded(std::string(item.state)); }},
      {"AGE", all, [](const ItemView& item) { return item.since ? since(*item.since) : ""; }},
      {"LOCK", circular_item,
       [](const ItemView& item) {
         return item.left || item.lock.empty() ? left_text(item) : "no end";
       }},
      {"LEASE", schedule_job, left_text},
      {"NEXT", schedule_job,
       [](const ItemView& job) { return job.due ? time_text(*job.due) : ""; }},
      {"STATUS", schedule_job,
       [](const ItemView& job) {
         const std::string status = job.status.value_or("");
         return escape(status.substr(0, status.find(':')));
       }},
      {"UNTIL", feed_job,
       [](const ItemView& job) { return job.until ? time_text(*job.until) : ""; }},
      {{"PAYLOAD", may_be_cut},
       feed_job,
       [wide](const ItemView& job) { return payload_text(job, wide); }},
      {{"REASON", may_be_cut},
       all,
       [&kind](const ItemView& item) { return detail_of(item, kind); }},
  };
  std::erase_if(columns, [&](const ItemColumn& of) { return (of.surfaces & kind.surface) == 0; });
  return columns;
}

Table table_of(const std::vector<ItemView>& items, const KindView& kind, bool wide) {
  const std::vector<ItemColumn> columns = item_columns(kind, wide);
  std::vector<Heading> headings;
  for (const ItemColumn& column : columns) headings.push_back(column.heading);
  Table table(std::move(headings));
  for (const ItemView& item : items) {
    std::vector<Cell> row;
    for (const ItemColumn& column : columns) row.push_back(column.text(item));
    table.add(std::move(row));
  }
  return table;
}

std::string summary_of(const view::ItemList& found, const KindView& kind) {
  const std::string noun = kind.item;
  if (found.whole && found.states.empty()) return "no " + noun + "s";
  if (!found.whole)
    return "the first " + std::to_string(found.items.size()) + "; the " + kind.list + " has " +
           std::to_string(found.length) + " " + noun + (found.length == 1 ? "" : "s");
  return counted_text(found.states, noun);
}

std::string json_of(const std::string& list, const view::ItemList& found, const KindTraits& kind) {
  core::AsciiObject json(256);
  json.put_bytes("list", list);
  if (!found.whole || view::view_of(kind).always_has_length) json.put("length", found.length);
  json.put_json("items", core::json_array(found.items, [&kind](const ItemView& item) {
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
      const KindTraits& kind = verbs::kind_or_default(query, prefix);
      const KindView& shown = view::view_of(kind);
      if (!one && !kind.in_redis) continue;
      if (!one && !options.json)
        std::cout << (&prefix == &prefixes.front() ? "" : "\n") << escape_text(prefix) << ":\n";
      if (kind.in_redis) verbs::check_state(prefix, state_, shown.states, "--state");
      view::ItemList found = verbs::all_items(query, prefix, kind, state_, limit_);
      verbs::read_payloads(query, prefix, kind, found.items, options.json || options.wide);
      if (options.json) {
        told.push_back(json_of(prefix, found, kind));
        continue;
      }
      const Table table = table_of(found.items, shown, options.wide);
      if (!table.empty()) table.print(options.wide);
      std::cout << summary_of(found, shown) << '\n';
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
