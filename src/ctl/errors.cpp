// Groups failed runs by list and error message, and changes the items of one group.
#include <algorithm>
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/error_changes.hpp"
#include "operator/error_groups.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t usual_groups = 50;

std::string count_of_items(const view::ErrorGroup& group) {
  return (group.more_items ? "at least " : "") + std::to_string(group.items);
}

std::string hosts_text(const view::ErrorGroup& group) {
  std::string text;
  for (const std::string& host : group.hosts)
    text += (text.empty() ? "" : ", ") + escape_text(host);
  return text + (group.more_hosts ? ", …" : "");
}

std::string count_text_of(const char* noun, std::size_t count) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

void print_errors(const verbs::ErrorGroups& errors, bool wide) {
  if (errors.groups.empty()) {
    std::cout << "no failed runs\n";
    return;
  }
  Table table({"GROUP",
               {"LIST", may_be_cut},
               "RUNS",
               "ITEMS",
               "FIRST",
               "LAST",
               {"HOSTS", may_be_cut},
               {"MESSAGE", may_be_cut}});
  for (const view::ErrorGroup& group : errors.groups)
    table.add({group.id, escape_text(group.list), std::to_string(group.runs), count_of_items(group),
               time_text(group.first), time_text(group.last), hosts_text(group),
               escape(group.message)});
  table.print(wide);
  if (errors.omitted_groups > 0)
    print_line(count_text_of("further group", errors.omitted_groups) + " with " +
               count_text_of("run", errors.omitted_runs) + "; raise --limit");
  if (!errors.complete) print_line("older failed runs were not read; name a list, or use --since");
}

/// A change of the items of a group.
struct Action {
  const char* option;
  const char* what;
  const char* done_word;
  verbs::GroupChange change;
};

constexpr Action actions[] = {
    {"--release", "End delay or quarantine of the items of GROUP", "released",
     verbs::GroupChange::release},
    {"--quarantine", "Quarantine the items of GROUP", "quarantined",
     verbs::GroupChange::quarantine},
    {"--retry", "Return the stalled jobs of GROUP to their queue", "queued again",
     verbs::GroupChange::retry},
};

class Errors final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A list, or a pattern (default: all lists in the config)",
                           prefix_);
    words.one_or_none("GROUP", "A group of errors, whose items an option changes", group_);
    words.option("--since", "WHEN", "a time or a duration, such as 1d or 2026-01-31T12:00:00Z",
                 "Only runs that failed since then",
                 [this](Argument&& word) { since_ = moment_of("--since", word.text, wall_now()); });
    declare_limit(words, "Show at most N groups (default: 50)", limit_);
    for (std::size_t i = 0; i < std::size(actions); ++i)
      words.flag(actions[i].option, actions[i].what, wanted_[i]);
    declare_reason(words, reason_);
    words.then([this] {
      const auto count = std::count(std::begin(wanted_), std::end(wanted_), true);
      if (count > 1) throw Failure(wrong_usage, "use one of --release, --quarantine and --retry");
      if (count == 1 && group_.empty())
        throw Failure(wrong_usage, "a change needs a list and a group; w8yctl errors lists them");
      if (count == 0 && !group_.empty())
        throw Failure(wrong_usage, "a group needs --release, --quarantine or --retry");
    });
  }

  int run(const Options& options, Context& context) override {
    if (!group_.empty()) return change(options, context);
    verbs::QueryContext query = context.query();
    const verbs::ErrorGroups errors =
        verbs::group_errors(query, {.list = prefix_, .since = since_, .max_groups = limit_});
    if (!options.json) {
      print_errors(errors, options.wide);
      return done;
    }
    print_json(verbs::to_json(errors));
    return done;
  }

 private:
  int change(const Options& options, Context& context) {
    const auto& action =
        actions[std::find(std::begin(wanted_), std::end(wanted_), true) - std::begin(wanted_)];
    context.refuse_other_formats();
    verbs::QueryContext query = context.query_items(*prefix_);
    const verbs::ChangedGroup found = verbs::change_group(
        query, *prefix_, group_, since_, action.change, {operator_name(), reason_, wall_now()});
    if (options.json) {
      core::JsonArray items;
      for (const verbs::ChangedItem& each : found.items) {
        core::AsciiObject item;
        view::put_item(item, "item", each.item);
        item.put("result", each.result);
        item.put("done", each.done);
        items.add(item.finish());
      }
      core::AsciiObject json;
      json.put_bytes("list", *prefix_);
      json.put("group", group_);
      json.put_json("items", items.finish());
      json.put("too_long", found.too_long);
      json.put("complete", found.complete);
      print_json(json.finish());
    } else {
      print_line(escape_text(*prefix_) + ": " + count_text_of("item", found.changed()) + ' ' +
                 action.done_word);
    }
    if (!found.complete)
      complain(
          "the group has more than " + std::to_string(verbs::max_found_items) +
          " items; the others were not changed: name them in w8yctl release, w8yctl quarantine "
          "or w8yctl job retry");
    if (found.too_long == 0) return found.complete ? done : refused;
    complain(
        std::to_string(found.too_long) +
        " runs are of items longer than 4096 bytes; these items were not changed: name them in "
        "w8yctl release or w8yctl quarantine");
    return refused;
  }

  std::optional<std::string> prefix_;
  std::string group_;
  std::optional<WallTime> since_;
  std::size_t limit_ = usual_groups;
  bool wanted_[std::size(actions)] = {};
  std::string reason_;
};

}  // namespace

const CommandMaker make_errors = new_command<Errors>;

}  // namespace w8y::ctl
