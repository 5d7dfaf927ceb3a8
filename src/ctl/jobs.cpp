// Subcommands for queues and jobs: put, get and changes of claimed jobs.
#include <array>
#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/job_feeds.hpp"
#include "operator/job_wait.hpp"
#include "operator/random_ids.hpp"

namespace w8y::ctl {

namespace {

using verbs::JobChange;

/// Time for which the result of a job is kept that a process waits for.
constexpr Duration kept_result = std::chrono::hours(1);

class Put final : public FeedCommand {
 public:
  explicit Put(FeedKind kind) : kind_(kind) {}

 private:
  void declare_more(Arguments& words) override {
    items_.declare(words, "ITEM", "The item; '-': those of standard input, one per line");
    words.flag("--high", "Put it before all that are queued", high_);
    if (kind_ == FeedKind::job) {
      words.option("--id", "ID", "an ID", "Its ID; a job with this ID is not added twice",
                   into(id_));
      words.flag("--rerun", "With --id: if the feed has it, run it again with this payload",
                 rerun_);
      words.flag("--wait", "Wait until it is finished, and print its result", wait_);
      declare_duration(words, "--timeout", "a duration, such as 1h30m",
                       "With --wait: maximum wait (default: no limit)", timeout_);
    }
  }

  void check() override {
    items_.check(kind_ == FeedKind::job ? "job put" : "queue put", "ITEM", nul_);
    if (timeout_ && !wait_) throw Failure(wrong_usage, "--timeout needs --wait");
    if (rerun_ && !id_) throw Failure(wrong_usage, "--rerun needs --id");
    if (rerun_ && wait_) throw Failure(wrong_usage, "--rerun and --wait cannot be used together");
    if (id_) check_new_id(*id_);
  }

  int work(const Options& options, Context& context) override {
    if (kind_ == FeedKind::job) {
      verbs::JobFeed feed(server(context), feed_);
      return put(options, context, feed);
    }
    verbs::QueueFeed feed(server(context), feed_);
    return put(options, context, feed);
  }

  template <class Feed>
  int put(const Options& options, Context& context, Feed& feed) {
    if (items_.many() && !wait_ && !id_) {
      feed.check();
      return send_input(options, with_new_ids([&](const std::vector<verbs::FeedItem>& items) {
                          feed.put(items, high_);
                        }));
    }
    const std::string item = items_.one(base64_, nul_);
    const std::string id = id_ ? *id_ : verbs::RandomIds().next();
    if (wait_) return put_and_wait(options, context, id, item);
    if (id_) return put_unique(options, context, item);
    feed.put({verbs::FeedItem(id, item)}, high_);
    return print_id(options, feed_, id, nul_);
  }

  int put_unique(const Options& options, Context& context, const std::string& item) {
    verbs::JobFeed feed(server(context), feed_);
    const verbs::PutAs put = feed.put_one({*id_, item, high_, false, {}, rerun_});
    if (rerun_ && put != verbs::PutAs::added) return print_rerun(options, put);
    const bool added = put == verbs::PutAs::added;
    const auto job = added ? std::nullopt : feed.job(*id_);
    const std::string state = job ? std::string(job->state) : "finished";
    if (!options.json) {
      if (!added) complain(exists_text(*id_, state));
      return print_id(options, feed_, *id_, nul_);
    }
    core::AsciiObject json = id_json(feed_, *id_);
    json.put("result", added ? "added" : "exists");
    if (!added) json.put("state", state);
    print_json(json.finish());
    return done;
  }

  int print_rerun(const Options& options, verbs::PutAs put) const {
    const std::string id = escape_text(*id_);
    if (put == verbs::PutAs::is_stalled)
      throw Failure(refused, id + " is stalled; to return it to the queue: w8yctl job retry " +
                                 shell_argument(feed_) + " " + shell_item(*id_));
    const bool runs = put == verbs::PutAs::runs_again;
    if (!options.json) {
      complain(id + (runs ? " is claimed; after its run, it runs again with this payload"
                          : " is queued; its payload is replaced"));
      return print_id(options, feed_, *id_, nul_);
    }
    core::AsciiObject json = id_json(feed_, *id_);
    json.put("result", runs ? "runs_again" : "replaced");
    print_json(json.finish());
    return done;
  }

  [[nodiscard]] std::string exists_text(const std::string& id, const std::string& state) const {
    return escape_text(id) + " is in the feed " + escape_text(feed_) + " already: " + state +
           "; not added";
  }

  int put_and_wait(const Options& options, Context& context, const std::string& id,
                   const std::string& item) {
    verbs::JobFeed feed(server(context), feed_);
    verbs::JobWait wait(context.connection(), feed, id, complain);
    wait.subscribe();
    const bool added = put_kept(feed, {id, item, high_, !id_, kept_result});
    if (!added)
      complain(escape_text(id) + " is in the feed " + escape_text(feed_) +
               " already; waiting for it");
    return print_value(options, feed_, id, "result",
                       added ? wait.result(timeout_) : wait.result_of_known(timeout_), nul_);
  }

  /// Puts a job whose result is kept. A user with permissions only for Thoonk's keys puts it
  /// without.
  static bool put_kept(verbs::JobFeed& feed, verbs::NewJob&& job) {
    try {
      return feed.put_unique(job);
    } catch (const verbs::RedisError& error) {
      if (error.code() != redis::ErrorCode::noperm) throw;
      job.keep.reset();
      return feed.put_unique(job);
    }
  }

  FeedKind kind_;
  FeedItems items_;
  bool high_ = false;
  bool wait_ = false;
  bool rerun_ = false;
  std::optional<std::string> id_;  ///< of a job that is not added twice
  std::optional<Duration> timeout_;
};

class Take final : public FeedCommand {
 public:
  explicit Take(FeedKind kind) : kind_(kind) {}

 private:
  void declare_more(Arguments& words) override {
    declare_duration(words, "--timeout", "a duration, such as 1h30m",
                     "Maximum wait for a job (default: do not wait)", timeout_);
  }

  int work(const Options& options, Context& context) override {
    verbs::QueueFeed feed(server(context), feed_, kind_);
    const auto taken = claim_jobs(feed, context.loop());
    if (!taken)
      throw Failure(refused,
                    "nothing is queued in the feed " + escape_text(feed_) +
                        (timeout_ ? ", and nothing arrived within " + format_duration(*timeout_)
                                  : std::string()));
    const auto& [id, item] = *taken;
    if (options.json || kind_ != FeedKind::job)
      return print_value(options, feed_, id, "item", item, nul_);
    std::cout << record_text(options, id) << '\n' << record_text(options, item);
    if (is_terminal() && !item.ends_with('\n')) std::cout << '\n';
    std::cout.flush();
    const std::string job = shell_argument(feed_) + " " + shell_item(id);
    complain("the job is claimed; finish it with \"w8yctl job finish " + job +
             "\", return it with \"w8yctl job requeue " + job +
             "\", or report a failure with \"w8yctl job fail " + job + "\"");
    return done;
  }

  /// Polls for the next item. With a blocking command, an item would be lost if this process ended
  /// meanwhile.
  std::optional<verbs::FeedItem> claim_jobs(verbs::QueueFeed& feed, loop::Loop& loop) const {
    constexpr Duration max_pause = std::chrono::milliseconds(100);
    Duration pause = std::chrono::milliseconds(10);
    const auto end = loop.now() + timeout_.value_or(Duration{0});
    while (true) {
      if (auto taken = feed.get()) return taken;
      if (loop.now() >= end) return std::nullopt;
      std::this_thread::sleep_for(std::min<Duration>(pause, end - loop.now()));
      pause = std::min(2 * pause, max_pause);
    }
  }

  FeedKind kind_;
  std::optional<Duration> timeout_;
};

std::string error_of(const verbs::JobFeed::Done& done, JobChange what, const std::string& id,
                     const std::string& feed) {
  const std::string where = " in the feed " + escape_text(feed);
  if (!done.holder.empty())
    return escape_text(id) + " is claimed by " + escape_text(done.holder) +
           "; only its holder can finish it (w8yctl job cancel returns it to the queue)";
  if (what == JobChange::retract) return not_there(id, feed).what();
  return escape_text(id) + (what == JobChange::retry ? " is not stalled" : " is not claimed") +
         where;
}

class Change final : public FeedCommand {
 public:
  explicit Change(JobChange what) : what_(what) {}

 private:
  void declare_more(Arguments& words) override { words.many("ID", "The jobs", into(ids_)); }

  int work(const Options& options, Context& context) override {
    const auto changed =
        verbs::JobFeed(server(context), feed_).change(what_, {ids_.begin(), ids_.end()});
    static constexpr std::array results_of = {"finished", "cancelled", "stalled", "queued again",
                                              "retracted"};
    const std::string result = results_of.at(static_cast<std::size_t>(what_));
    FeedResults results(options.json, feed_);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::string error = changed[i].done ? "" : error_of(changed[i], what_, ids_[i], feed_);
      results.add(ids_[i], changed[i].done ? result : error, error);
    }
    return results.end();
  }

  JobChange what_;
  std::deque<std::string> ids_;
};

class Finish final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.one("ID", "The job", into(id_));
    result_.declare(words, "RESULT", "Result for clients that wait for the job (default: none)");
  }

  void check() override { result_.check("job finish", "RESULT", nul_, true); }

  int work(const Options& options, Context& context) override {
    std::optional<std::string> result;
    if (result_.given()) result = result_.one(base64_, nul_);
    const auto finished = verbs::JobFeed(server(context), feed_).finish(id_, result);
    if (!finished.done) throw Failure(refused, error_of(finished, JobChange::finish, id_, feed_));
    return print_done(options, feed_, id_, "finished");
  }

  std::string id_;
  FeedItems result_;
};

class Failures final : public FeedCommand {
  void declare_more(Arguments& words) override { words.one("ID", "The job", into(id_)); }

  int work(const Options& options, Context& context) override {
    const auto failures = verbs::JobFeed(server(context), feed_).failures(id_);
    if (!options.json) {
      std::cout << failures << '\n';
      return done;
    }
    core::AsciiObject json = id_json(feed_, id_);
    json.put("failures", failures);
    print_json(json.finish());
    return done;
  }

  std::string id_;
};

class Maintain final : public FeedCommand {
  void declare_more(Arguments&) override {}

  /// Uses the config of this host for the feed. Without one, no job is stalled, and no claim
  /// without a lease is recovered.
  int work(const Options& options, Context& context) override {
    verbs::MaintenanceTerms terms;
    if (const auto* lists = context.lists())
      if (const auto list = lists->find(feed_)) terms = list->maintenance;
    terms.who = operator_name();
    // Hosts continue soon; they recover claims that remain if this host does not have the config.
    terms.interval = std::chrono::seconds(5);
    const auto result = verbs::JobFeed(server(context), feed_).maintain(terms);
    if (options.json) {
      core::AsciiObject json;
      json.put_bytes("feed", feed_);
      json.put("taken_back", result.taken_back);
      json.put("put_back", result.put_back);
      json.put("orphaned", result.nowhere);
      core::AsciiObject removed;
      removed.put("claimed", result.claimed);
      removed.put("stalled", result.stalled);
      removed.put("cancelled", result.cancelled);
      removed.put("published", result.published);
      json.put_json("removed", removed.finish());
      print_json(json.finish());
      return done;
    }
    const auto say = [](std::size_t count, const char* one, const char* many) {
      if (count > 0) std::cout << count << (count == 1 ? one : many) << '\n';
    };
    say(result.taken_back, " claim recovered", " claims recovered");
    say(result.put_back, " orphaned job queued again", " orphaned jobs queued again");
    say(result.nowhere, " orphaned job: queued again by the next maintenance",
        " orphaned jobs: queued again by the next maintenance");
    say(result.claimed, " claim of a deleted job removed", " claims of deleted jobs removed");
    say(result.stalled, " stalled ID of a deleted job removed",
        " stalled IDs of deleted jobs removed");
    say(result.cancelled, " cancel count of a deleted job removed",
        " cancel counts of deleted jobs removed");
    say(result.published, " put time of a deleted job removed",
        " put times of deleted jobs removed");
    return done;
  }
};

}  // namespace

const CommandMaker make_queue_put = new_command<Put, FeedKind::queue>;
const CommandMaker make_job_put = new_command<Put, FeedKind::job>;
const CommandMaker make_queue_get = new_command<Take, FeedKind::queue>;
const CommandMaker make_job_get = new_command<Take, FeedKind::job>;
const CommandMaker make_job_finish = new_command<Finish>;
const CommandMaker make_job_cancel = new_command<Change, JobChange::cancel>;
const CommandMaker make_job_stall = new_command<Change, JobChange::stall>;
const CommandMaker make_job_retry = new_command<Change, JobChange::retry>;
const CommandMaker make_job_retract = new_command<Change, JobChange::retract>;
const CommandMaker make_job_failures = new_command<Failures>;
const CommandMaker make_job_maintain = new_command<Maintain>;

}  // namespace w8y::ctl
