#include "ctl/top_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "core/units.hpp"
#include "ctl/columns.hpp"
#include "ctl/text.hpp"
#include "ctl/top_table.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t max_problems = 4;
/// Divisor: runs get a third of the rows below the head, if there are as many.
constexpr std::size_t part_of_runs = 3;

std::string rate_text(double per_minute) {
  if (per_minute <= 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, per_minute < 9.95 ? "%.1f" : "%.0f", per_minute);
  return text;
}

std::string count_text(std::uint64_t count) {
  return count == 0 ? "" : std::to_string(count);
}

std::string time_span(WallTime time) {
  return rough_duration(std::chrono::floor<std::chrono::seconds>(std::max(WallTime{0}, time)));
}

std::string bar_text(const std::optional<Progress>& progress) {
  constexpr double cells = 20;
  if (!progress) return "";
  const double part = progress->denominator > 0
                          ? std::clamp(progress->numerator / progress->denominator, 0.0, 1.0)
                          : 0.0;
  const auto full = static_cast<std::size_t>(std::lround(part * cells));
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3.0f %%", std::floor(part * 100));
  return "[" + std::string(full, '=') + std::string(static_cast<std::size_t>(cells) - full, ' ') +
         "]" + percent;
}

Cell redis_cell(const HostStatus& host) {
  if (!host.has_redis) return "none";
  const RedisStatus& redis = host.redis;
  if (redis.connected && redis.error.empty()) return "connected";
  return {(redis.connected ? "unavailable" : "not connected") +
              (redis.error.empty() ? "" : ": " + escape(redis.error)),
          Colour::bad};
}

/// Returns the rank of a list: problems come first.
int rank_of(const TopList& list) {
  const int rank = problem_rank(list.totals, list.status);
  return rank == no_problem && list.totals.state != ListState::running ? no_problem + 1 : rank;
}

std::optional<WallTime> cycle_of(const TopList& list) {
  return list.status.stats ? list.status.stats->cycle : std::nullopt;
}

TopLine one_line(Cell cell, std::size_t width, TopLine::Style style = TopLine::Style::plain) {
  cell.text = cut_to(cell.text, width);
  return {{std::move(cell)}, style};
}

const std::vector<const char*>& help_text() {
  static const std::vector<const char*> text = {
      "Keys of top",
      "",
      "  p n u r f     sort by problems, name, running, rate, failures",
      "  /             filter: lists whose name contains this text, or a pattern; Enter keeps it",
      "  Esc           clear the filter",
      "  Tab           lists and runs, lists only, runs only",
      "  arrows, PgUp, PgDn, Home, End   scroll",
      "  Space         stop or continue updates",
      "  h ?           show this help",
      "  q             quit",
  };
  return text;
}

const char* sort_name(TopView::Sort sort) {
  constexpr std::array names = {"problems", "name", "running", "rate", "failures"};
  return names.at(static_cast<std::size_t>(sort));
}

}  // namespace

// ---- keys

bool TopView::press(const TopKey& key) {
  using Kind = TopKey::Kind;
  if (editing_) return edit_filter(key);
  if (std::exchange(help_, false) && key.kind == Kind::escape) return true;
  switch (key.kind) {
    case Kind::text:
      return command(key.text);
    case Kind::escape:
      filter_.clear();
      first_ = 0;
      break;
    case Kind::tab:
      shown_ = shown_ == Shown::both    ? Shown::lists
               : shown_ == Shown::lists ? Shown::runs
                                        : Shown::both;
      first_ = 0;
      break;
    case Kind::up:
      scroll(-1);
      break;
    case Kind::down:
      scroll(1);
      break;
    case Kind::page_up:
      scroll(-static_cast<long>(page_));
      break;
    case Kind::page_down:
      scroll(static_cast<long>(page_));
      break;
    case Kind::home:
      first_ = 0;
      break;
    case Kind::end:
      first_ = stats_.lists.size() + running();
      break;
    case Kind::enter:
    case Kind::backspace:
      break;
  }
  return true;
}

bool TopView::command(const std::string& key) {
  if (key == "q" || key == "Q") return false;
  if (key == " ") frozen_ = !frozen_;
  if (key == "h" || key == "?") help_ = true;
  if (key == "/") editing_ = true;
  const auto sort = [&](Sort by) {
    sort_ = by;
    first_ = 0;
  };
  if (key == "p") sort(Sort::problems);
  if (key == "n") sort(Sort::name);
  if (key == "u") sort(Sort::running);
  if (key == "r") sort(Sort::rate);
  if (key == "f") sort(Sort::failures);
  return true;
}

bool TopView::edit_filter(const TopKey& key) {
  switch (key.kind) {
    case TopKey::Kind::text:
      filter_ += key.text;
      break;
    case TopKey::Kind::backspace:
      // The first byte of a UTF-8 character is the one that does not start with bits 10.
      while (!filter_.empty()) {
        const auto byte = static_cast<unsigned char>(filter_.back());
        filter_.pop_back();
        if ((byte & 0xC0U) != 0x80U) break;
      }
      break;
    case TopKey::Kind::escape:
      filter_.clear();
      editing_ = false;
      break;
    case TopKey::Kind::enter:
      editing_ = false;
      break;
    default:
      break;
  }
  first_ = 0;
  return true;
}

void TopView::scroll(long by) {
  const long to = static_cast<long>(first_) + by;
  first_ = to > 0 ? static_cast<std::size_t>(to) : 0;
}

// ---- contents

bool TopView::fits(const std::string& name) const {
  if (filter_.empty()) return true;
  return name.find(filter_) != std::string::npos || core::fits(filter_, name);
}

std::vector<const TopList*> TopView::chosen_lists() const {
  std::vector<const TopList*> lists;
  for (const TopList& list : stats_.lists)
    if (fits(escape_text(list.status.prefix))) lists.push_back(&list);
  const auto by = [&](auto key) {
    std::ranges::stable_sort(lists,
                             [&](const TopList* a, const TopList* b) { return key(*a) > key(*b); });
  };
  switch (sort_) {
    case Sort::problems:
      by([](const TopList& list) { return -rank_of(list); });
      break;
    case Sort::name:
      break;  // in the order of the response
    case Sort::running:
      by([](const TopList& list) { return list.totals.running; });
      break;
    case Sort::rate:
      by([](const TopList& list) { return list.done_per_minute + list.failed_per_minute; });
      break;
    case Sort::failures:
      by([](const TopList& list) { return std::pair(list.failed_per_minute, list.failed()); });
      break;
  }
  return lists;
}

std::size_t TopView::running() const {
  std::size_t count = 0;
  for (const TopList& list : stats_.lists) count += list.status.runs.size();
  return count;
}

std::vector<TopView::TopRun> TopView::chosen_runs() const {
  std::vector<TopRun> runs;
  for (const TopList& list : stats_.lists) {
    const std::string name = escape_text(list.status.prefix);
    if (!fits(name)) continue;
    for (const RunStatus& run : list.status.runs) runs.push_back({name, &run});
  }
  std::ranges::stable_sort(runs, {}, [](const TopRun& run) { return run.run->started; });
  return runs;
}

void TopView::add_head(std::vector<TopLine>& to, std::size_t width) const {
  double done = 0;
  double failed = 0;
  for (const TopList& list : stats_.lists) {
    done += list.done_per_minute;
    failed += list.failed_per_minute;
  }
  const std::string some_failed = rate_text(failed);
  TopLine line;
  std::size_t room = width;
  const auto put = [&](std::string text, Colour colour = Colour::none) {
    text = cut_to(text, room);
    room -= std::min(room, width_of(text));
    line.cells.emplace_back(std::move(text), colour);
  };
  const HostStatus& host = stats_.host;
  const Cell state = shaded(state_name(host.state));
  const Cell redis = redis_cell(host);
  put(escape(host.host) + "  ");
  put(state.text, state.colour);
  put("  up " + time_span(host.now - host.started));
  put("  Redis ");
  put(redis.text, redis.colour);
  to.push_back(std::exchange(line, {}));
  room = width;
  put(std::to_string(stats_.lists.size()) + (stats_.lists.size() == 1 ? " list, " : " lists, "));
  put(std::to_string(stats_.fleet.running) + " running");
  if (stats_.fleet.slots_limit > 0)
    put(", " + std::to_string(stats_.fleet.slots_used) + " of " +
        std::to_string(stats_.fleet.slots_limit) + " slots");
  put("; here " + std::to_string(running()) + " running, " +
      (done > 0 ? rate_text(done) : std::string("0")) + " done a minute");
  if (!some_failed.empty()) put(", " + some_failed + " failed", Colour::bad);
  to.push_back(std::move(line));
  for (std::size_t i = 0; i < stats_.problems.size() && i < max_problems; ++i)
    to.push_back(one_line({outcome_text(stats_.problems[i].text), Colour::bad}, width));
  if (const std::size_t count = stats_.problems.size(); count > max_problems)
    to.push_back(one_line(
        {"and " + std::to_string(count - max_problems) + " more; to see all: w8yctl status",
         Colour::bad},
        width));
}

void TopView::add_lists(std::vector<TopLine>& to, std::size_t width, std::size_t rows) {
  const auto lists = chosen_lists();
  const std::size_t page = rows > 1 ? rows - 1 : 0;
  if (shown_ != Shown::runs) {
    page_ = std::max<std::size_t>(page, 1);
    first_ = std::min(first_, lists.size() > page ? lists.size() - page : 0);
  }
  const bool cycles =
      std::ranges::any_of(lists, [](const TopList* list) { return cycle_of(*list).has_value(); });
  std::vector<std::vector<Cell>> table;
  for (std::size_t i = first_; i < lists.size() && i - first_ < page; ++i) {
    const TopList& list = *lists[i];
    const ListStatus& status = list.status;
    std::vector<Cell> row = {
        escape_text(status.prefix),
        shaded(state_name(list.totals.state)),
        std::to_string(list.totals.running) + "/" + std::to_string(list.totals.slots),
        rate_text(list.done_per_minute),
        {rate_text(list.failed_per_minute), Colour::bad},
        count_text(list.done()),
        count_text(list.failed()),
        {count_text(status.quarantined.value_or(0)), Colour::bad}};
    if (cycles) row.emplace_back(cycle_of(list) ? time_span(*cycle_of(list)) : "");
    row.emplace_back(outcome_text(list.totals.why));
    table.push_back(std::move(row));
  }
  std::vector<TopColumn> columns = {{"LIST", true},
                                    {"STATE"},
                                    {"RUNNING", false, true},
                                    {"/MIN HERE", false, true, 2},
                                    {"FAIL/MIN HERE", false, true, 6},
                                    {"SUCCEEDED HERE", false, true, 4},
                                    {"FAILED HERE", false, true, 5},
                                    {"QUAR", false, true, 1}};
  if (cycles) columns.push_back({"CYCLE", false, true, 3});
  columns.push_back({"REASON", true, false, 3});
  add_table(to, columns, table, width);
}

void TopView::add_runs(std::vector<TopLine>& to, std::size_t width, std::size_t rows) {
  const auto runs = chosen_runs();
  const std::size_t page = rows > 1 ? rows - 1 : 0;
  std::size_t first = 0;
  if (shown_ == Shown::runs) {
    page_ = std::max<std::size_t>(page, 1);
    first_ = std::min(first_, runs.size() > page ? runs.size() - page : 0);
    first = first_;
  }
  std::vector<std::vector<Cell>> table;
  for (std::size_t i = first; i < runs.size() && i - first < page; ++i) {
    const RunStatus& run = *runs[i].run;
    table.push_back(
        {runs[i].list, item_text(run.item),
         run.lease_lost ? Cell("lease lost", Colour::bad) : shaded(state_name(run.state)),
         time_span(stats_.host.now - run.started), bar_text(run.progress), escape(run.run)});
  }
  add_table(to,
            {{"LIST", true},
             {"ITEM", true},
             {"STATE", false, false, 2},
             {"AGE", false, true, 1},
             {"PROGRESS", false, false, 3},
             {"RUN HERE", false, false, 4}},
            table, width);
}

TopLine TopView::footer(std::size_t width) const {
  using Style = TopLine::Style;
  if (editing_) return one_line("filter: " + filter_ + "_", width, Style::footer);
  if (!error_.empty()) return one_line({error_, Colour::bad}, width, Style::footer);
  std::string text = "sorted by " + std::string(sort_name(sort_));
  if (!filter_.empty()) text += ", only " + filter_;
  if (frozen_) text += ", updates stopped";
  return one_line(text + "   h help   q quit", width, Style::footer);
}

std::vector<TopLine> TopView::lines(std::size_t width, std::size_t height) {
  std::vector<TopLine> all;
  if (width == 0 || height == 0) return all;
  if (help_) {
    for (const char* line : help_text()) all.push_back(one_line(line, width));
  } else {
    add_head(all, width);
    all.emplace_back();
    const std::size_t body = height > all.size() + 1 ? height - all.size() - 1 : 0;
    const std::size_t runs_there = chosen_runs().size();
    const std::size_t lists_there = chosen_lists().size();
    std::size_t for_runs = 0;
    if (shown_ == Shown::runs) {
      for_runs = body;
    } else if (shown_ == Shown::both && runs_there > 0) {
      // Rows that lists do not use, and at least a third.
      const std::size_t left = body > lists_there + 2 ? body - lists_there - 2 : 0;
      for_runs = std::min(runs_there + 1, std::max(body / part_of_runs, left));
    }
    if (shown_ != Shown::runs) {
      const std::size_t rows = for_runs > 0 && body > for_runs ? body - for_runs - 1 : body;
      add_lists(all, width, rows);
      if (for_runs > 0) all.emplace_back();
    }
    if (for_runs > 0) add_runs(all, width, for_runs);
  }
  if (all.size() + 1 > height) all.resize(height - 1);
  while (all.size() + 1 < height) all.emplace_back();
  all.push_back(footer(width));
  return all;
}

}  // namespace w8y::ctl
