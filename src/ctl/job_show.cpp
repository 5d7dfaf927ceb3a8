// Subcommands for one job of a feed: show it, and wait for its result.
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/job_feeds.hpp"
#include "operator/job_wait.hpp"

namespace w8y::ctl {

namespace {

constexpr std::size_t whole = std::size_t{1} << 24;

/// A job that the feed has, or had: then only its runs are known.
struct JobFacts {
  std::optional<view::ItemView> job;
  std::optional<std::string> payload;
  std::vector<view::RunRecord> runs;  ///< newest first

  [[nodiscard]] const view::RunRecord* last() const { return runs.empty() ? nullptr : &runs[0]; }
  [[nodiscard]] std::string state() const {
    if (job) return std::string(job->state);
    return last() != nullptr && !last()->failed() ? "finished" : "gone";
  }
  /// Returns the attempt that is active, that comes next or, if there is none, that was the last.
  [[nodiscard]] std::int64_t attempt() const {
    if (job && job->state != "stalled") return job->failures + 1;
    return last() != nullptr ? last()->attempt.value_or(0) : 0;
  }
  /// Returns the result as JSON; empty: there is none.
  [[nodiscard]] std::string result() const {
    return !job && last() != nullptr && !last()->failed() ? last()->result : std::string();
  }
};

class JobShow final : public FeedCommand {
  void declare_more(Arguments& words) override { words.one("ID", "The job", into(id_)); }

  int work(const Options& options, Context& context) override {
    verbs::JobFeed feed(server(context), feed_);
    JobFacts facts;
    facts.payload = feed.item(id_);
    facts.job = feed.job(id_);
    facts.runs = feed.runs(id_);
    if (!facts.job && facts.runs.empty()) throw not_there(id_, feed_);
    if (options.json) {
      print_json(json_of(facts));
    } else {
      print(options, facts);
    }
    return done;
  }

  [[nodiscard]] std::string json_of(const JobFacts& facts) const {
    core::AsciiObject json = id_json(feed_, id_);
    json.put("state", facts.state());
    if (facts.payload) json.put_bytes("payload", *facts.payload);
    if (facts.attempt() > 0) json.put("attempt", facts.attempt());
    if (facts.job) put_job(json, *facts.job);
    if (const std::string result = facts.result(); !result.empty())
      json.put_json("result", json_text::one_line(result));
    json.put_json("runs", core::json_array(facts.runs, [](const view::RunRecord& run) {
                    return view::to_json(run);
                  }));
    return json.finish();
  }

  static void put_job(core::AsciiObject& json, const view::ItemView& job) {
    json.put("failures", job.failures);
    if (job.queue_position > 0) json.put("position", job.queue_position);
    if (!job.host.empty()) json.put_bytes("host", job.host);
    if (!job.run.empty()) json.put_bytes("run", job.run);
    if (job.since) json.put("since_ms", job.since->count());
    if (job.until) json.put("until_ms", job.until->count());
    if (job.quarantined_at_end) json.put_json("stalled_at_end", "true");
  }

  void print(const Options& options, const JobFacts& facts) const {
    KeyValueTable table;
    table.add("job", escape_text(id_));
    table.add("feed", escape_text(feed_));
    table.add("state", shaded(facts.state()));
    if (facts.job) add_job(table, *facts.job);
    if (facts.attempt() > 0) table.add("attempt", std::to_string(facts.attempt()));
    if (facts.payload) table.add("payload", escape(*facts.payload, whole));
    if (const std::string result = facts.result(); !result.empty())
      table.add("result", escape(json_text::as_string(result).value_or(result), whole));
    if (const auto* last = facts.last(); last != nullptr && last->failed()) {
      table.add("last failure",
                escape(last->outcome) + (last->reason.empty() ? "" : ": " + escape(last->reason)));
      if (!last->stalled.empty() && facts.state() == "stalled")
        table.add("stalled after", escape(last->stalled));
    }
    table.print(options.wide);
    print_runs(options, facts.runs);
  }

  static void add_job(KeyValueTable& table, const view::ItemView& job) {
    if (job.queue_position > 0) table.add("position", std::to_string(job.queue_position));
    if (!job.host.empty()) table.add("host", escape_text(job.host));
    if (!job.run.empty()) table.add("run", escape(job.run));
    if (job.since) table.add("claimed", time_text(*job.since) + ", " + since(*job.since) + " ago");
    if (job.until) table.add("delayed until", time_text(*job.until));
    table.add("failures", std::to_string(job.failures));
    if (job.quarantined_at_end) table.add("at its end", "will be stalled");
  }

  static void print_runs(const Options& options, const std::vector<view::RunRecord>& runs) {
    if (runs.empty()) {
      std::cout << "no finished runs in the history\n";
      return;
    }
    Table table({"ENDED", "RUN", "HOST", "ATTEMPT", "DURATION", "OUTCOME", {"REASON", may_be_cut}});
    for (const view::RunRecord& run : runs)
      table.add({time_text(run.ended.value_or(WallTime{0})), escape(run.run), escape_text(run.host),
                 std::to_string(run.attempt.value_or(0)), duration_text(run), shaded(run.outcome),
                 escape(run.reason)});
    table.print(options.wide);
  }

  std::string id_;
};

class JobWaitCommand final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.one("ID", "The job", into(id_));
    declare_duration(words, "--timeout", "a duration, such as 1h30m",
                     "Maximum wait for the result (default: no limit)", timeout_);
  }

  int work(const Options& options, Context& context) override {
    verbs::JobFeed feed(server(context), feed_);
    feed.check();
    verbs::JobWait wait(context.connection(), feed, id_, complain);
    wait.subscribe();
    return print_value(options, feed_, id_, "result", wait.result_of_known(timeout_), nul_);
  }

  std::string id_;
  std::optional<Duration> timeout_;
};

}  // namespace

const CommandMaker make_job_show = new_command<JobShow>;
const CommandMaker make_job_wait = new_command<JobWaitCommand>;

}  // namespace w8y::ctl
