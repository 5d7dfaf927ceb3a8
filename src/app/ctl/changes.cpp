// What an operator does to items of a list: each as one script, so that no host and no other
// operator comes between looking and doing.
#include "operator/changes.hpp"

#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "app/ctl/who.hpp"
#include "core/escape.hpp"
#include "operator/circular_items.hpp"
#include "store/circular/item_changes.hpp"

namespace w8y::app::ctl {

namespace {

using verbs::ChangeResult;
using verbs::result_of;

/// What a change came to, told item by item.
class Told {
 public:
  explicit Told(const Options& options) : options_(options) {}

  void item(const ShownItem& item, const ChangeResult& result) {
    if (!result.good) exit_ = refused;
    if (options_.json) {
      core::AsciiObject entry;
      view::put_item(entry, "item", item);
      entry.put("result", result.text);
      entry.put("done", result.good);
      items_.add(entry.take());
    } else if (result.good) {
      std::cout << item_text(item) << ": " << result.text << '\n';
    } else {
      complain(item_text(item) + ": " + result.text);
    }
  }
  /// All of one list have been told.
  void list(const std::string& prefix) {
    core::AsciiObject json;
    json.put_bytes("list", prefix);
    json.put_json("items", std::exchange(items_, {}).take());
    lists_.push_back(json.take());
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

/// Changes the items that are named, or all that are in some state.
class ChangeItems : public Command {
 public:
  int run(const Options& options, Context& context) override {
    if (items_.items.empty() == states_.empty())
      throw Failure(wrong_usage,
                    states_.empty()
                        ? "no items are named" + hint()
                        : "either name items, or say with an option which are meant; not both");
    Told told(options);
    const bool by_pattern = !states_.empty();
    const std::vector<std::string> prefixes =
        by_pattern ? context.lists_of(prefix_) : std::vector{prefix_};
    for (const auto& prefix : prefixes) change(options, context, prefix, told);
    return told.end(prefixes == std::vector{prefix_});
  }

 protected:
  virtual std::vector<ChangeResult> carry_out(store::ItemChanges& changes,
                                              const std::vector<Item>& items) const = 0;
  /// Of an item, or of many at once: "released".
  virtual const char* done_word() const = 0;
  virtual std::string hint() const { return {}; }
  /// What is done to long items, where they stand.
  [[nodiscard]] virtual store::ItemChanges::LongChange long_change() const {
    return store::ItemChanges::LongChange::release;
  }

  void declare_items(Words& words) {
    declare_prefix(words, "The list", prefix_);
    items_.declare(words, states_may_be_named());
  }
  [[nodiscard]] virtual bool states_may_be_named() const { return true; }
  [[nodiscard]] virtual bool takes_indexed() const { return false; }

  std::string prefix_;
  ItemWords items_;
  std::vector<std::string> states_;  ///< all items that are in one of these

 private:
  void change(const Options& options, Context& context, const std::string& prefix, Told& told) {
    const store::CircularKeys keys = context.circular_keys(prefix);
    store::ItemChanges changes(context.redis(), keys);
    const std::vector<Item> items =
        states_.empty() ? items_.items : in_states(context, keys, changes);
    const std::vector<ChangeResult> results = carry_out(changes, items);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      changed += results[i].good;
      if (options.json || states_.empty()) told.item(items[i], results[i]);
    }
    if (!states_.empty())
      for (const ShownItem& item : changes.change_long(long_change(), states_)) {
        ++changed;
        if (options.json) told.item(item, {done_word()});
      }
    told.list(prefix);
    if (states_.empty() || options.json) return;
    // Items that were not changed were in another state by then.
    std::cout << escape_text(prefix) << ": " << changed << (changed == 1 ? " item " : " items ")
              << done_word() << '\n';
  }
  [[nodiscard]] bool is_wanted(const std::string& state) const {
    return std::find(states_.begin(), states_.end(), state) != states_.end();
  }
  /// Quarantined items are also those that only the index has: they may be off the list, or still
  /// run.
  [[nodiscard]] std::vector<Item> in_states(Context& context, const store::CircularKeys& keys,
                                            store::ItemChanges& changes) const {
    std::vector<Item> items;
    std::set<Item> known;
    const auto take = [&](Item&& item) {
      if (known.insert(item).second) items.push_back(std::move(item));
    };
    for (auto& found : verbs::read_items(context.redis(), keys).items)
      if (is_wanted(std::string(found.state)) && !found.cut()) take(std::move(found.item));
    if (takes_indexed() && is_wanted("quarantined"))
      for (auto& found : changes.quarantined()) take(std::move(found.item));
    return items;
  }
};

class Remove final : public ChangeItems {
 public:
  void declare(Words& words) override {
    declare_items(words);
    words.option("--state", "STATE", item_states_text, "Remove all items in this state",
                 [this](Word&& word) { states_ = {item_state_of(word.text)}; });
  }

 private:
  std::vector<ChangeResult> carry_out(store::ItemChanges& changes,
                                      const std::vector<Item>& items) const override {
    const auto result = [](std::size_t copies) {
      return copies > 0 ? ChangeResult{"removed"} : ChangeResult{"not in the list", false};
    };
    std::vector<ChangeResult> results;
    if (states_.empty()) {
      for (const std::size_t copies : changes.remove(items)) results.push_back(result(copies));
      return results;
    }
    // They were looked at a moment ago: what is in another state by now stays.
    for (const auto& copies : changes.remove(items, states_.front()))
      results.push_back(copies ? result(*copies)
                               : ChangeResult{"not removed: it is in another state by now", false});
    return results;
  }
  const char* done_word() const override { return "removed"; }
  [[nodiscard]] store::ItemChanges::LongChange long_change() const override {
    return store::ItemChanges::LongChange::remove;
  }
  std::string hint() const override { return ": name some, or say --state"; }
};

class Quarantine final : public ChangeItems {
 public:
  void declare(Words& words) override {
    declare_items(words);
    declare_reason(words, reason_);
  }

 private:
  [[nodiscard]] bool states_may_be_named() const override { return false; }
  std::vector<ChangeResult> carry_out(store::ItemChanges& changes,
                                      const std::vector<Item>& items) const override {
    std::vector<ChangeResult> results;
    for (const auto how : changes.quarantine(items, {{}, who_we_are(), reason_, wall_now()}))
      results.push_back(result_of(how));
    return results;
  }
  const char* done_word() const override { return "quarantined"; }

  std::string reason_;
};

class Release final : public ChangeItems {
 public:
  void declare(Words& words) override {
    declare_items(words);
    words.flag("--all", "Release all items that rest or are quarantined", all_);
    words.option("--state", "STATE", "resting or quarantined", "Release all items in this state",
                 [this](Word&& word) {
                   states_ = {one_of("--state", word.text, {"resting", "quarantined"})};
                 });
    words.then([this] {
      if (all_ && states_.empty()) states_ = {"resting", "quarantined"};
    });
  }

 private:
  [[nodiscard]] bool takes_indexed() const override { return true; }
  std::vector<ChangeResult> carry_out(store::ItemChanges& changes,
                                      const std::vector<Item>& items) const override {
    std::vector<ChangeResult> results;
    for (const auto how : changes.release(items)) results.push_back(result_of(how));
    return results;
  }
  const char* done_word() const override { return "released"; }
  std::string hint() const override { return ": name some, or say --all"; }

  bool all_ = false;
};

}  // namespace

CommandPtr make_remove() {
  return std::make_unique<Remove>();
}

CommandPtr make_quarantine() {
  return std::make_unique<Quarantine>();
}

CommandPtr make_release() {
  return std::make_unique<Release>();
}

}  // namespace w8y::app::ctl
