// Lists finished runs, newest first.
#include "operator/runs.hpp"

#include <iostream>
#include <limits>
#include <optional>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t usual_limit = 50;

void print_runs(const std::vector<view::RunRecord>& runs, bool wide) {
  if (runs.empty()) {
    std::cout << "no finished runs\n";
    return;
  }
  std::vector<Heading> headings{"ENDED",   "RUN",     {"LIST", may_be_cut}, {"ITEM", may_be_cut},
                                "OUTCOME", "DURATION"};
  if (wide) headings.insert(headings.end(), {"CPU", "MEMORY"});
  headings.insert(headings.end(), {{"HOST", may_be_cut}, {"REASON", may_be_cut}});
  Table table(std::move(headings));
  for (const auto& run : runs) {
    std::vector<Cell> row{time_text(run.ended.value_or(WallTime{0})),
                          escape(run.run),
                          escape_text(run.list),
                          item_text(run.item),
                          shaded(run.outcome),
                          duration_text(run)};
    if (wide) {
      row.emplace_back(run.cpu ? format_duration(*run.cpu) : std::string());
      row.emplace_back(run.peak_memory ? memory_text(*run.peak_memory) : std::string());
    }
    row.insert(row.end(), {escape_text(run.host), escape(run.reason)});
    table.add(std::move(row));
  }
  table.print(wide);
}

class Runs final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A list, or a pattern (default: all lists in the config)",
                           prefix_);
    item_.declare_option(words, "Only runs of this item");
    words.flag("--failed", "Only runs that did not succeed", failed_);
    words.option("--since", "WHEN", "a time or a duration, such as 2h or 2026-01-31T12:00:00Z",
                 "Only runs that have ended since then",
                 [this](Argument&& word) { since_ = moment_of("--since", word.text, wall_now()); });
    words.option("--host", "HOST", "a host's name or a pattern", "Only runs of this host", host_);
    declare_limit(words, "Show at most N (default: 50)", limit_);
  }

  int run(const Options& options, Context& context) override {
    verbs::RunFilter filter{
        .item = {}, .outcomes = {}, .failed = failed_, .host = host_, .since = since_};
    if (!item_.items.empty()) filter.item = item_.items.front();
    std::vector<view::RunRecord> found;
    verbs::QueryContext query = context.query();
    verbs::list_runs(query, prefix_, filter, {.limit = limit_, .after = {}, .max_read = all},
                     [&](view::RunRecord&& run) {
                       if (!options.json) run.error_output.clear();
                       found.push_back(std::move(run));
                       return true;
                     });
    if (!options.json) {
      print_runs(found, options.wide);
      return done;
    }
    core::JsonArray runs;
    for (const view::RunRecord& run : found) runs.add(view::to_json(run));
    print_json("runs", runs);
    return done;
  }

 private:
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  std::optional<std::string> prefix_;
  ItemArguments item_;
  bool failed_ = false;
  std::optional<WallTime> since_;
  std::string host_;
  std::size_t limit_ = usual_limit;
};

}  // namespace

const CommandMaker make_runs = new_command<Runs>;

}  // namespace w8y::ctl
