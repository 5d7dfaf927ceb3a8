// Changes of items of a list by an operator. Each change is one script, so that no other client
// intervenes between the check and the change.
#include "operator/changes.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/lists.hpp"

namespace w8y::ctl {

namespace {

using verbs::ChangedItem;

/// Prints the result of a change, item by item.
class Told {
 public:
  explicit Told(const Options& options) : options_(options) {}

  void item(const ChangedItem& changed) {
    if (!changed.done) exit_ = refused;
    if (options_.json) {
      core::AsciiObject entry;
      view::put_item(entry, "item", changed.item);
      entry.put("result", changed.result);
      entry.put("done", changed.done);
      items_.add(entry.finish());
    } else if (changed.done) {
      std::cout << item_text(changed.item) << ": " << changed.result << '\n';
    } else {
      complain(item_text(changed.item) + ": " + changed.result);
    }
  }
  /// Called after the last item of a list.
  void list(const std::string& prefix) {
    core::AsciiObject json;
    json.put_bytes("list", prefix);
    json.put_json("items", std::exchange(items_, {}).finish());
    lists_.push_back(json.finish());
  }
  int end(bool one) {
    if (options_.json) print_each(lists_, one);
    return exit_;
  }

 private:
  const Options& options_;
  int exit_ = done;
  core::JsonArray items_;
  std::vector<std::string> lists_;  ///< JSON objects
};

/// Changes the named items, or all items in given states.
class ChangeItems : public Command {
 public:
  int run(const Options& options, Context& context) override {
    if (items_.items.empty() == states_.empty())
      throw Failure(wrong_usage, states_.empty()
                                     ? "no items are named" + hint()
                                     : "name items or select them with an option, not both");
    Told told(options);
    verbs::QueryContext query = context.query_items(prefix_);
    if (states_.empty()) {
      // JSON has a result for each item in any case.
      if (!options.json) verbs::check_known(query, prefix_);
      for (const ChangedItem& each : change(query)) told.item(each);
      told.list(prefix_);
      return told.end(true);
    }
    const std::vector<std::string> prefixes = verbs::lists_of(query, prefix_);
    for (const auto& prefix : prefixes) {
      const std::vector<ChangedItem> all = change_all(query, prefix);
      if (options.json) {
        for (const ChangedItem& each : all) told.item(each);
        told.list(prefix);
        continue;
      }
      // Items that were not changed had left that state.
      const auto changed =
          std::count_if(all.begin(), all.end(), [](const ChangedItem& each) { return each.done; });
      std::cout << escape_text(prefix) << ": " << changed << (changed == 1 ? " item " : " items ")
                << done_word() << '\n';
    }
    return told.end(prefixes == std::vector{prefix_});
  }

 protected:
  /// Changes the named items.
  virtual std::vector<ChangedItem> change(verbs::QueryContext& query) const = 0;
  /// Changes all items of a list that are in one of `states_`.
  virtual std::vector<ChangedItem> change_all(verbs::QueryContext&, const std::string&) const {
    return {};
  }
  /// Returns the verb for the number of changed items: "released".
  virtual const char* done_word() const { return ""; }
  virtual std::string hint() const { return {}; }

  void declare_items(Arguments& words, bool states_may_be_named) {
    declare_prefix(words, "The list", prefix_);
    items_.declare(words, states_may_be_named);
  }

  std::string prefix_;
  ItemArguments items_;
  std::vector<std::string> states_;  ///< changes all items in one of these
};

class Remove final : public ChangeItems {
 public:
  void declare(Arguments& words) override {
    declare_items(words, true);
    words.option("--state", "STATE", item_states_text, "Remove all items in this state",
                 [this](Argument&& word) { states_ = {item_state_of(word.text)}; });
  }

 private:
  std::vector<ChangedItem> change(verbs::QueryContext& query) const override {
    return verbs::remove_items(query, prefix_, items_.items);
  }
  std::vector<ChangedItem> change_all(verbs::QueryContext& query,
                                      const std::string& list) const override {
    return verbs::remove_all(query, list, states_.front());
  }
  const char* done_word() const override { return "removed"; }
  std::string hint() const override { return ": name items, or use --state"; }
};

class Quarantine final : public ChangeItems {
 public:
  void declare(Arguments& words) override {
    declare_items(words, false);
    declare_reason(words, reason_);
  }

 private:
  std::vector<ChangedItem> change(verbs::QueryContext& query) const override {
    return verbs::quarantine_items(query, prefix_, items_.items,
                                   {operator_name(), reason_, wall_now()});
  }

  std::string reason_;
};

class Release final : public ChangeItems {
 public:
  void declare(Arguments& words) override {
    declare_items(words, true);
    words.flag("--all", "Release all items that are delayed or quarantined", all_);
    words.option("--state", "STATE", "delayed or quarantined", "Release all items in this state",
                 [this](Argument&& word) {
                   states_ = {one_of("--state", word.text, {"delayed", "quarantined"})};
                 });
    words.then([this] {
      if (all_ && states_.empty()) states_ = {"delayed", "quarantined"};
    });
  }

 private:
  std::vector<ChangedItem> change(verbs::QueryContext& query) const override {
    return verbs::release_items(query, prefix_, items_.items);
  }
  std::vector<ChangedItem> change_all(verbs::QueryContext& query,
                                      const std::string& list) const override {
    return verbs::release_all(query, list, states_);
  }
  const char* done_word() const override { return "released"; }
  std::string hint() const override { return ": name items, or use --all"; }

  bool all_ = false;
};

/// Makes sure that a run of each item starts after the call.
class Rerun final : public ChangeItems {
 public:
  void declare(Arguments& words) override { declare_items(words, false); }

 private:
  std::vector<ChangedItem> change(verbs::QueryContext& query) const override {
    return verbs::rerun_items(query, prefix_, items_.items);
  }
};

}  // namespace

const CommandMaker make_remove = new_command<Remove>;
const CommandMaker make_quarantine = new_command<Quarantine>;
const CommandMaker make_release = new_command<Release>;
const CommandMaker make_rerun = new_command<Rerun>;

}  // namespace w8y::ctl
