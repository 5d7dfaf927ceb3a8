// One run closely: it goes on, here or elsewhere, or is in the history.
#include <algorithm>
#include <iostream>
#include <optional>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/run_search.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

namespace {

constexpr std::size_t whole = std::size_t{1} << 24;

/// Its lines, each fit for a terminal.
void print_stderr(const std::string& text) {
  if (text.empty()) return;
  std::cout << "standard error:\n";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::cout << "  " << escape(std::string_view(text).substr(at, end - at), whole) << '\n';
    at = end + 1;
  }
}

void print_finished(const view::RunRecord& run, bool wide) {
  Facts facts;
  facts.add("run", escape(run.run));
  facts.add("list", escape_text(run.list));
  facts.add("item", item_text(run.item));
  facts.add("host", escape_text(run.host));
  Cell outcome = shaded(run.outcome);
  if (!run.reason.empty()) outcome.text += ": " + escape(run.reason);
  facts.add("outcome", outcome);
  facts.add("started", time_text(run.started().value_or(WallTime{0})));
  facts.add("ended", time_text(run.ended.value_or(WallTime{0})) + ", after " + took_text(run));
  if (!run.signal.empty()) facts.add("exit", escape(run.signal));
  for (const auto& [name, number] :
       {std::pair("exit", run.exit), std::pair("attempt", run.attempt),
        std::pair("fence", run.fence), std::pair("bad lines", run.bad_lines)})
    if (number) facts.add(name, std::to_string(*number));
  if (!run.result.empty()) facts.add("result", escape(run.result, whole));
  facts.print(wide);
  print_stderr(run.error_output);
}

void print_here(const view::RunView& run, bool wide) {
  const RunStatus& status = run.status;
  Facts facts;
  facts.add("run", escape(status.run));
  facts.add("list", escape_text(run.list));
  facts.add("item", item_text(status.item));
  facts.add("host", escape(run.host));
  facts.add("state", shaded(state_name(status.state)));
  // Another host's clock may be another one.
  const WallTime started = run.age ? wall_now() - *run.age : status.started;
  facts.add("started", time_text(started) + ", " + since(started) + " ago");
  facts.add("pid", std::to_string(status.pid));
  facts.add("attempt", std::to_string(status.attempt));
  facts.add("fence", std::to_string(status.fence.value_or(0)));
  if (const std::string progress = progress_text(status.progress); !progress.empty())
    facts.add("progress", progress);
  if (status.lease_lost) facts.add("lock", Cell("lost", Colour::bad));
  facts.print(wide);
}

/// What an item's lock tells of its run.
std::string to_json(const RunSearch::Held& held) {
  core::AsciiObject json(256);
  json.put("run", held.item.run);
  json.put_bytes("list", held.list);
  view::put_item(json, "item", held.item.shown());
  json.put_bytes("host", held.item.host);
  if (const auto pid = read_integer(held.item.pid, range_of<std::int64_t>)) json.put("pid", *pid);
  json.put("state", held.item.state);
  if (held.item.since) json.put("since_ms", held.item.since->count());
  return json.take();
}

void print_elsewhere(const RunSearch::Held& held, bool wide) {
  const view::ItemView& item = held.item;
  Facts facts;
  facts.add("run", escape(item.run));
  facts.add("list", escape_text(held.list));
  facts.add("item", item_text(item.shown()));
  facts.add("host", escape_text(item.host) + ", its w8yd or w8y has pid " + escape(item.pid));
  facts.add("state", shaded(std::string(item.state)));
  if (item.since) facts.add("claimed", time_text(*item.since) + ", " + since(*item.since) + " ago");
  facts.print(wide);
}

class Show final : public Command {
 public:
  void declare(Words& words) override {
    words.one("RUN-ID", "The run, or the start of its id",
              [this](Word&& word) { run_ = std::move(word.text); });
    words.option("--list", "PREFIX", "a PREFIX", "Look only in this list",
                 [this](Word&& word) { list_ = prefix_of(std::move(word.text)); });
  }

  int run(const Options& options, Context& context) override {
    RunSearch search(context, run_, list_);
    search.look_here();
    if (!search.settled()) search.look_back();
    if (!search.settled()) look_at_others(search, options, context);
    const RunSearch::Found* found = search.only();
    if (found == nullptr)
      throw Failure(refused, "there is no run " + escape_text(run_) +
                                 ": it is not going on, and not in the history");
    if (found->here || found->in_fleet) {
      const view::RunView& run = found->here ? *found->here : *found->in_fleet;
      if (options.json) {
        print_json(view::to_json(run));
      } else {
        print_here(run, options.wide);
      }
    } else if (found->finished) {
      if (options.json) {
        print_json(view::to_json(*found->finished));
      } else {
        print_finished(*found->finished, options.wide);
      }
    } else {
      if (options.json) {
        print_json(to_json(*found->elsewhere));
      } else {
        print_elsewhere(*found->elsewhere, options.wide);
      }
    }
    return done;
  }

 private:
  /// Who runs it says more than its lock does.
  static void look_at_others(RunSearch& search, const Options& options, Context& context) {
    try {
      FleetAccess fleet(options, context);
      search.look_in_fleet(fleet);
    } catch (const Failure&) {
    }
    if (!search.settled()) search.look_elsewhere();
  }

  std::string run_;
  std::optional<std::string> list_;
};

}  // namespace

CommandPtr make_show() {
  return std::make_unique<Show>();
}

}  // namespace w8y::app::ctl
