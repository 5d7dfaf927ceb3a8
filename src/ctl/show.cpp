// Shows one run: active on any host, or from the history.
#include <algorithm>
#include <iostream>
#include <optional>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/number.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t whole = std::size_t{1} << 24;

/// Prints log output, with each line escaped for a terminal.
void print_stderr(const std::string& text) {
  if (text.empty()) return;
  std::cout << "log output:\n";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::cout << "  " << escape(std::string_view(text).substr(at, end - at), whole) << '\n';
    at = end + 1;
  }
}

void print_finished(const view::RunRecord& run, bool wide) {
  KeyValueTable facts;
  facts.add("run", escape(run.run));
  facts.add("list", escape_text(run.list));
  facts.add("item", item_text(run.item));
  facts.add("host", escape_text(run.host));
  Cell outcome = shaded(run.outcome);
  if (!run.reason.empty()) outcome.text += ": " + escape(run.reason);
  facts.add("outcome", outcome);
  if (run.started()) facts.add("started", time_text(*run.started()));
  facts.add("ended", time_text(run.ended.value_or(WallTime{0})) +
                         (run.started() ? ", after " + duration_text(run) : std::string()));
  if (run.cpu) facts.add("cpu", format_duration(*run.cpu));
  if (run.peak_memory) facts.add("peak memory", memory_text(*run.peak_memory));
  if (!run.signal.empty()) facts.add("exit", escape(run.signal));
  for (const auto& [name, number] :
       {std::pair("exit", run.exit), std::pair("attempt", run.attempt),
        std::pair("fence", run.fence), std::pair("bad lines", run.bad_lines)})
    if (number) facts.add(name, std::to_string(*number));
  if (!run.result.empty()) facts.add("result", escape(run.result, whole));
  facts.print(wide);
  print_stderr(run.error_output);
}

void print_active(const view::RunView& run, bool wide) {
  const RunStatus& status = run.status;
  KeyValueTable facts;
  facts.add("run", escape(status.run));
  facts.add("list", escape_text(run.list));
  facts.add("item", item_text(status.item));
  facts.add("host", escape(run.host));
  facts.add("state", shaded(state_name(status.state)));
  // The clock of another host may differ.
  const WallTime started = run.age ? wall_now() - *run.age : status.started;
  facts.add("started", time_text(started) + ", " + since(started) + " ago");
  facts.add("pid", std::to_string(status.pid));
  facts.add("attempt", std::to_string(status.attempt));
  facts.add("fence", std::to_string(status.fence.value_or(0)));
  if (const std::string progress = progress_text(status.progress); !progress.empty())
    facts.add("progress", progress);
  if (run.used.cpu) facts.add("cpu", format_duration(*run.used.cpu));
  if (run.used.peak_memory)
    facts.add("peak memory", memory_text(static_cast<std::int64_t>(*run.used.peak_memory)));
  if (status.lease_lost) facts.add("lease", Cell("lost", Colour::bad));
  facts.print(wide);
}

/// Returns the JSON of a run that is known by a lock only.
std::string held_json(const verbs::FoundRun& held) {
  core::AsciiObject json(256);
  json.put("run", held.held->run);
  json.put_bytes("list", held.list);
  view::put_item(json, "item", held.held->shown());
  json.put_bytes("host", held.held->host);
  if (const auto pid = read_integer(held.held->pid, range_of<std::int64_t>)) json.put("pid", *pid);
  json.put("state", held.held->state);
  if (held.held->since) json.put("since_ms", held.held->since->count());
  return json.finish();
}

void print_held(const verbs::FoundRun& held, bool wide) {
  const view::ItemView& item = *held.held;
  KeyValueTable facts;
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
  void declare(Arguments& words) override {
    words.one("RUN-ID", "The run, or the start of its ID", run_);
    words.option("--list", "LIST", "a list", "Search only this list",
                 [this](Argument&& word) { list_ = prefix_of(std::move(word.text)); });
  }

  int run(const Options& options, Context& context) override {
    verbs::RunMatches matches(run_, list_);
    context.add_here(matches);
    if (!matches.settled()) {
      verbs::QueryContext query = context.query();
      matches.add_finished(query);
      // The host of a run has more details than its lock.
      if (!matches.settled()) FleetAccess(options, context).add_runs(matches);
      if (!matches.settled()) matches.add_held(query);
    }
    verbs::FoundRun found = matches.only();
    if (found.active && !found.finished && !found.active->used.cpu) add_use(context, *found.active);
    if (options.json) {
      print_json(found.finished ? view::to_json(*found.finished)
                 : found.active ? view::to_json(*found.active)
                                : held_json(found));
    } else if (found.finished) {
      print_finished(*found.finished, options.wide);
    } else if (found.active) {
      print_active(*found.active, options.wide);
    } else {
      print_held(found, options.wide);
    }
    return done;
  }

 private:
  /// Adds the resource use of a run, if the w8yd of this host replies. Its status has none.
  static void add_use(Context& context, view::RunView& run) {
    const std::string id(std::string_view(run.status.run));
    const auto answer = context.try_request(api::endpoints::run.target({id}));
    if (const auto used = answer ? view::read_run(*answer) : std::nullopt) run.used = used->used;
  }

  std::string run_;
  std::optional<std::string> list_;
};

}  // namespace

const CommandMaker make_show = new_command<Show>;

}  // namespace w8y::ctl
