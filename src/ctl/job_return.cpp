// Subcommands that end the claims of jobs without a lease: fail and requeue.
#include <optional>

#include "core/config.hpp"
#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "operator/job_feeds.hpp"

namespace w8y::ctl {

namespace {

using Returned = verbs::JobFeed::Returned;

/// Subcommand for claimed jobs. A job that runs under a lease is refused.
class ReturnCommand : public FeedCommand {
 protected:
  void declare_ids(Arguments& words) { words.many("ID", "The jobs", into(ids_)); }
  [[nodiscard]] std::vector<std::string> ids() const { return {ids_.begin(), ids_.end()}; }

  int report(const Options& options, const verbs::JobFeed::ReturnResult& result,
             const char* word) const {
    FeedResults results(options.json, feed_);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const Returned& job = result.jobs[i];
      const std::string error = job.done ? "" : error_of(job, ids_[i]);
      results.add(ids_[i], !job.done ? error : job.stalled ? "stalled" : word, error);
      if (job.stalled)
        complain(escape_text(ids_[i]) +
                 " has reached max_failures and is stalled; return it to "
                 "the queue with \"w8yctl job retry " +
                 shell_argument(feed_) + " " + shell_item(ids_[i]) + "\"");
    }
    return results.end();
  }

 private:
  [[nodiscard]] std::string error_of(const Returned& job, const std::string& id) const {
    if (job.holder.empty())
      return escape_text(id) + " is not claimed in the feed " + escape_text(feed_);
    const std::string run = job.holder.substr(job.holder.rfind(':') + 1);
    return escape_text(id) + " runs under a lease of " + escape_text(job.holder) +
           "; stop its run with \"w8yctl cancel " + shell_argument(run) + "\"";
  }

  std::deque<std::string> ids_;
};

class Fail final : public ReturnCommand {
  void declare_more(Arguments& words) override {
    declare_ids(words);
    words.option("--reason", "TEXT", "a text", "Reason of the failure, for the history", reason_);
  }

  /// Uses the config of this host for the feed. Without one, no job is stalled.
  int work(const Options& options, Context& context) override {
    verbs::JobFeed::FailTerms terms;
    if (const auto* lists = context.lists())
      if (const auto list = lists->find(feed_)) {
        terms.max_failures = list->maintenance.max_failures;
        terms.history = list->maintenance.history;
      }
    terms.host = system_config_host().hostname();
    terms.reason = reason_ ? *reason_ : "failed by " + operator_name();
    const auto result = verbs::JobFeed(server(context), feed_).fail(ids(), terms);
    if (reason_ && !result.unwritten.empty())
      complain("the reason is not in the history: " + escape(result.unwritten));
    return report(options, result, "failed");
  }

  std::optional<std::string> reason_;
};

class Requeue final : public ReturnCommand {
  void declare_more(Arguments& words) override { declare_ids(words); }

  int work(const Options& options, Context& context) override {
    return report(options, verbs::JobFeed(server(context), feed_).requeue(ids()), "requeued");
  }
};

}  // namespace

const CommandMaker make_job_fail = new_command<Fail>;
const CommandMaker make_job_requeue = new_command<Requeue>;

}  // namespace w8y::ctl
