// What an operator does to items of a list: each as one script, so that no host and no other
// operator comes between looking and doing.
#include <pwd.h>
#include <unistd.h>

#include <iostream>

#include <w8y/config.hpp>
#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"
#include "source/item_changes.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

struct Result {
  const char* text;
  bool good = true;
};

/// Tells what came of each item.
template <typename How>
int tell(const Options& options, const std::vector<How>& results, Result (*result_of)(How)) {
  int exit = done;
  Json told = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Item& item = options.items[i];
    const Result result = result_of(results[i]);
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

/// Who asks later wants to know whom to ask.
std::string who() {
  const passwd* account = getpwuid(getuid());
  const std::string name = account != nullptr ? account->pw_name : std::to_string(getuid());
  return name + " on " + system_config_host().hostname();
}

}  // namespace

int add(const Options& options, Site& site) {
  const std::string& prefix = *options.prefix;
  // Right for a list that only w8y works on, and a slip otherwise.
  if (site.lists() && !site.lists()->contains(prefix))
    complain("note: " + escape_text(prefix) + " is not in the config of this host");
  source::ItemChanges changes(site.redis(), site.keys(prefix));
  return tell<source::AddedAs>(
      options, changes.add(options.items, options.again), [](source::AddedAs how) {
        return how == source::AddedAs::added ? Result{"added"}
                                             : Result{"in the list already; skipped"};
      });
}

int remove(const Options& options, Site& site) {
  source::ItemChanges changes(site.redis(), site.keys(*options.prefix));
  return tell<std::size_t>(options, changes.remove(options.items), [](std::size_t copies) {
    return copies > 0 ? Result{"removed"} : Result{"not in the list", false};
  });
}

int quarantine(const Options& options, Site& site) {
  source::ItemChanges changes(site.redis(), site.keys(*options.prefix));
  const source::QuarantineNote note{{}, who(), options.reason, wall_now()};
  return tell<source::QuarantinedAs>(
      options, changes.quarantine(options.items, note), [](source::QuarantinedAs how) {
        switch (how) {
          case source::QuarantinedAs::done:
            return Result{"quarantined"};
          case source::QuarantinedAs::was_already:
            return Result{"was quarantined already"};
          case source::QuarantinedAs::at_end_of_run:
            return Result{"is running; will be quarantined at the end of its run"};
          case source::QuarantinedAs::asked_already:
            return Result{"is running; was to be quarantined at the end of its run already"};
          case source::QuarantinedAs::not_listed:
            break;
        }
        return Result{"not in the list", false};
      });
}

int release(const Options& options, Site& site) {
  source::ItemChanges changes(site.redis(), site.keys(*options.prefix));
  return tell<source::ReleasedAs>(
      options, changes.release(options.items), [](source::ReleasedAs how) {
        switch (how) {
          case source::ReleasedAs::released:
            return Result{"released"};
          case source::ReleasedAs::was_free:
            return Result{"was free"};
          case source::ReleasedAs::runs:
            return Result{"is running; nothing to release", false};
          case source::ReleasedAs::called_off:
            return Result{"is running; will not be quarantined at the end of its run"};
          case source::ReleasedAs::not_listed:
            break;
        }
        return Result{"not in the list", false};
      });
}

}  // namespace w8y::app::ctl
