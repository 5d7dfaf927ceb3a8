// The items of a list, and what each is doing; of a schedule, its jobs.
#include <algorithm>
#include <iostream>
#include <map>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/feed_job_items.hpp"
#include "app/ctl/job_items.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "app/look/feed_jobs.hpp"
#include "app/look/item_states.hpp"
#include "app/look/job_states.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string left_text(const look::ItemState& item) {
  if (item.left) return rough_duration(*item.left) + " left";
  return item.lock.empty() ? "" : "no end";
}

std::string detail_of(const look::ItemState& item) {
  std::string text;
  const std::string state = item.state;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!item.host.empty()) {
    add("on " + escape_text(item.host) + ", pid " + escape(item.pid) + ", run " + escape(item.run));
  } else if (state == "running") {
    add("by another program: " + escape_text(item.lock));
  } else if (state == "quarantined") {
    if (item.run.empty() && item.by.empty() && item.why.empty()) add("no reason was given");
    if (!item.why.empty()) add(escape(item.why));
    if (!item.by.empty()) add("by " + escape(item.by));
    if (!item.run.empty()) add("after run " + escape(item.run));
  } else if (!item.why.empty()) {
    add(escape(item.why));
  }
  if (item.parked) add("will be quarantined at its end");
  // What quarantined it has said so.
  if (item.failures > 0 && item.why.find("failed in a row") == std::string::npos)
    add(std::to_string(item.failures) + " failed in a row");
  if (item.copies > 1) add(std::to_string(item.copies) + " times in the list");
  return text;
}

std::string summary_of(const look::Items& found) {
  if (found.length == 0) return "no items";
  if (!found.whole)
    return "the first " + std::to_string(found.items.size()) + "; the list has " +
           std::to_string(found.length) + (found.length == 1 ? " item" : " items");
  return counted_text(found.states, "item");
}

class ShowItems final : public Command {
 public:
  void declare(Words& words) override {
    declare_prefix(words, "The list, or a pattern", prefix_);
    words.option("--state", "STATE",
                 "free, running, resting or quarantined; of a schedule running, queued, waiting, "
                 "stopped, bad, died or nowhere; of jobs of a feed running, resting, claimed, "
                 "waiting, stalled or nowhere",
                 "Only items in this state",
                 [this](Word&& word) { state_ = any_item_state_of(word.text); });
    declare_limit(words, "Show at most N of each list", limit_);
  }

  int run(const Options& options, Context& context) override {
    const std::vector<std::string> prefixes = context.lists_of(prefix_);
    const bool one = prefixes == std::vector{prefix_};
    Json told = Json::array();
    for (const auto& prefix : prefixes) {
      if (one) context.refuse_gearman(prefix);
      if (context.kind_of(prefix) == SourceKind::gearman) continue;
      const SourceKind kind = context.kind_found(prefix);
      if (!one && !options.json)
        std::cout << (&prefix == &prefixes.front() ? "" : "\n") << escape_text(prefix) << ":\n";
      if (kind == SourceKind::job) {
        check_state(prefix, look::feed_job_states);
        Json json = show_feed_jobs(options, context, prefix, state_, limit_);
        if (options.json) told.push_back(std::move(json));
        continue;
      }
      if (kind == SourceKind::schedule) {
        check_state(prefix, look::job_states);
        Json json = show_jobs(options, context, prefix, state_, limit_);
        if (options.json) told.push_back(std::move(json));
        continue;
      }
      check_state(prefix, look::item_states);
      const look::Items found =
          look::read_items(context.redis(), context.circular_keys(prefix), state_, limit_);
      if (options.json) {
        told.push_back(to_json(prefix, found));
      } else {
        print(found, options.wide);
      }
    }
    if (options.json) print_json(one ? told.front() : Json{{"lists", told}});
    return done;
  }

 private:
  static Json to_json(const std::string& prefix, const look::Items& found) {
    Json json = Json::object();
    ops::put_bytes(json, "list", prefix);
    if (!found.whole) json["length"] = found.length;
    json["items"] = Json::array();
    for (const auto& item : found.items) json["items"].push_back(look::to_json(item));
    return json;
  }
  void print(const look::Items& found, bool wide) const {
    Table table({{"ITEM", may_be_cut}, "STATE", "FOR", "LOCK", {"WHY", may_be_cut}});
    for (const auto& item : found.items)
      table.add({item_text(item.shown()), shaded(item.state),
                 item.since ? since(*item.since) : std::string(), left_text(item),
                 detail_of(item)});
    if (!table.empty()) table.print(wide);
    std::cout << summary_of(found) << '\n';
  }

  template <typename States>
  void check_state(const std::string& prefix, const States& states) const {
    if (state_.empty() || std::find(states.begin(), states.end(), state_) != states.end()) return;
    std::string all;
    for (const char* state : states) all += (all.empty() ? "" : ", ") + std::string(state);
    throw Failure(wrong_usage, escape_text(prefix) + ": no item of it is ever " + state_ +
                                   "; --state may be one of " + all);
  }

  std::string prefix_;
  std::string state_;
  std::size_t limit_ = 0;  ///< 0: all
};

}  // namespace

CommandPtr make_items() {
  return std::make_unique<ShowItems>();
}

}  // namespace w8y::app::ctl
