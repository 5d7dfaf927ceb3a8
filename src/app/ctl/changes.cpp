// What an operator does to items of a list: each as one script, so that no host and no other
// operator comes between looking and doing.
#include <algorithm>
#include <functional>
#include <iostream>

#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// Items per call: finding one takes time with the length of the list, and Redis must not be held
/// for long.
constexpr std::size_t at_once = 64;

struct Result {
  const char* text;
  bool good = true;
};

/// One kind of change.
struct Change {
  const redis::Script& script;
  /// The keys before the locks of the items; `locks`: whether these follow.
  std::vector<std::string> keys;
  bool locks = true;
  std::vector<std::string> args;  ///< before the items
  std::function<Result(std::int64_t)> result;
};

/// The script's number for each item.
std::vector<std::int64_t> carry_out(Site& site, const source::CircularKeys& names,
                                    const Change& change, const std::vector<Item>& items) {
  std::vector<std::int64_t> numbers;
  for (std::size_t first = 0; first < items.size(); first += at_once) {
    const std::size_t end = std::min(items.size(), first + at_once);
    std::vector<std::string> locks;
    for (std::size_t i = first; change.locks && i < end; ++i) locks.push_back(names.lock(items[i]));
    redis::Command keys(change.keys.begin(), change.keys.end());
    keys.insert(keys.end(), locks.begin(), locks.end());
    redis::Command args(change.args.begin(), change.args.end());
    for (std::size_t i = first; i < end; ++i) args.emplace_back(items[i]);
    const redis::Value reply = site.redis().run(change.script, keys, args);
    for (std::size_t i = first; i < end; ++i)
      numbers.push_back(i - first < reply.elements.size() ? reply.elements[i - first].number : 0);
  }
  return numbers;
}

int change_items(const Options& options, Site& site, const source::CircularKeys& names,
                 const Change& change) {
  const std::vector<std::int64_t> numbers = carry_out(site, names, change, options.items);
  int exit = done;
  Json told = Json::array();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Item& item = options.items[i];
    const Result result = change.result(numbers[i]);
    if (!result.good) exit = refused;
    if (options.json) {
      Json entry = Json::object();
      ops::put_bytes(entry, "item", item);
      entry["result"] = result.text;
      entry["done"] = result.good;
      told.push_back(std::move(entry));
    } else if (result.good) {
      std::cout << escape_text(item) << ": " << result.text << '\n';
    } else {
      complain(escape_text(item) + ": " + result.text);
    }
  }
  if (options.json) {
    Json json = Json::object();
    ops::put_bytes(json, "list", *options.prefix);
    json["items"] = std::move(told);
    print_json(json);
  }
  return exit;
}

}  // namespace

int add(const Options& options, Site& site) {
  const std::string& prefix = *options.prefix;
  const source::CircularKeys keys = site.keys(prefix);
  // Right for a list that only w8y works on, and a slip otherwise.
  if (site.lists() && !site.lists()->contains(prefix))
    complain("note: " + escape_text(prefix) + " is not in the config of this host");
  return change_items(options, site, keys,
                      {redis::scripts::add,
                       {keys.list},
                       false,
                       {options.again ? "1" : "0", keys.wake},
                       [](std::int64_t number) {
                         return number > 0 ? Result{"added"}
                                           : Result{"in the list already; skipped"};
                       }});
}

int remove(const Options& options, Site& site) {
  const source::CircularKeys keys = site.keys(*options.prefix);
  return change_items(
      options, site, keys,
      {redis::scripts::remove, {keys.list, keys.failures}, true, {}, [](std::int64_t number) {
         return number > 0 ? Result{"removed"} : Result{"not in the list", false};
       }});
}

int quarantine(const Options& options, Site& site) {
  const source::CircularKeys keys = site.keys(*options.prefix);
  const auto result = [](std::int64_t number) {
    if (number == 1) return Result{"quarantined"};
    if (number == 2) return Result{"was quarantined already"};
    if (number == 3) return Result{"is running; cancel the run first", false};
    return Result{"not in the list", false};
  };
  return change_items(options, site, keys,
                      {redis::scripts::quarantine,
                       {keys.list},
                       true,
                       {std::string(source::quarantine_prefix) + "manual"},
                       result});
}

int release(const Options& options, Site& site) {
  const source::CircularKeys keys = site.keys(*options.prefix);
  const auto result = [](std::int64_t number) {
    if (number == 1) return Result{"released"};
    if (number == 2) return Result{"was free"};
    if (number == 3) return Result{"is running; nothing to release", false};
    return Result{"not in the list", false};
  };
  return change_items(
      options, site, keys,
      {redis::scripts::release, {keys.list, keys.failures}, true, {keys.wake}, result});
}

}  // namespace w8y::app::ctl
