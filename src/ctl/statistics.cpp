// Shows runs, failures, durations and cycle times of a list or the fleet over time.
#include "operator/statistics.hpp"

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

using view::Statistics;
using view::StatisticsBucket;

/// Number of buckets in a row of the table: 5 minutes, or 1 hour.
std::size_t buckets_of_row(const Statistics& statistics) {
  return statistics.span.length == view::span_hour.length ? 5 : 2;
}

std::string percentile_text(const DurationBins& bins, unsigned percent) {
  const auto value = bins.percentile(percent);
  return value ? rough_duration(*value) : std::string();
}

void add_row(Table& table, std::string name, const StatisticsBucket& bucket) {
  table.add({std::move(name),
             std::to_string(bucket.runs),
             {std::to_string(bucket.failed), bucket.failed > 0 ? Colour::bad : Colour::none},
             percentile_text(bucket.durations, 50),
             percentile_text(bucket.durations, 95),
             percentile_text(bucket.cycles, 50),
             percentile_text(bucket.cycles, 95)});
}

void print_marks(const Statistics& statistics, bool wide) {
  if (statistics.marks.empty()) return;
  print_line("");
  Table table({"TIME", "MARK", {"HOST", may_be_cut}, {"LIST", may_be_cut}, {"TEXT", may_be_cut}});
  for (const view::StatisticsMark& mark : statistics.marks)
    table.add({time_text(mark.at), kind_name(mark.kind),
               mark.host.empty() ? "" : escape_text(mark.host),
               mark.list ? escape_text(*mark.list) : std::string(), escape(mark.text)});
  table.print(wide);
}

void print_statistics(const Statistics& statistics, bool wide) {
  Table table({"FROM", "RUNS", "FAILED", "P50", "P95", "CYCLE P50", "CYCLE P95"});
  const std::size_t step = buckets_of_row(statistics);
  for (std::size_t first = 0; first < statistics.buckets.size(); first += step) {
    StatisticsBucket row = statistics.buckets[first];
    for (std::size_t i = first + 1; i < first + step; ++i) row.add(statistics.buckets[i]);
    add_row(table, time_text(row.at), row);
  }
  add_row(table, "all", statistics.total());
  table.print(wide);
  print_marks(statistics, wide);
}

class ShowStatistics final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A list (default: all lists of the fleet together)", prefix_);
    words.flag("--day", "Show the last day instead of the last hour", day_);
  }

  int run(const Options& options, Context& context) override {
    verbs::QueryContext query = context.query();
    const Statistics statistics =
        verbs::read_statistics(query, prefix_, day_ ? view::span_day : view::span_hour);
    if (options.json) {
      print_json(view::to_json(statistics));
    } else {
      print_statistics(statistics, options.wide);
    }
    return done;
  }

 private:
  std::optional<std::string> prefix_;
  bool day_ = false;
};

}  // namespace

const CommandMaker make_statistics = new_command<ShowStatistics>;

}  // namespace w8y::ctl
