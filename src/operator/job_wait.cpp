#include "operator/job_wait.hpp"

#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

namespace {

constexpr Duration check_interval = std::chrono::seconds(1);
/// Maximum number of log lines that are shown with a failure, and maximum bytes of each.
constexpr std::size_t shown_lines = 10;
constexpr std::size_t shown_of_line = 500;

std::vector<std::string_view> last_lines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < shown_lines) {
    const std::size_t before = text.rfind('\n');
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    lines.push_back(text.substr(begin));
    text = text.substr(0, before == std::string_view::npos ? 0 : before);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::string cause_of(const view::RunRecord& run) {
  return escape(run.outcome) + (run.reason.empty() ? "" : ": " + escape(run.reason));
}

/// Returns the result in the form of its message. In the history, text of a plain command is a JSON
/// string.
std::string message_of(const std::string& result) {
  if (result.empty()) return "{}";
  auto text = json_text::as_string(result);
  return text ? std::move(*text) : result;
}

}  // namespace

JobWait::JobWait(const Connection& at, JobFeed& feed, std::string id, Complain complain)
    : detail::SubscriberOwner{redis::Subscriber(at.loop(), at.reach())},
      redis::Subscriber::Listener(subscriber),
      loop_(at.loop()),
      feed_(feed),
      id_(std::move(id)),
      complain_(std::move(complain)) {}

void JobWait::subscribe() {
  subscription_ = subscriber.subscribe(
      feed_.keys().finish_channel,
      [this](std::string_view, std::string_view message) {
        if (message.substr(0, message.find(store::part_separator)) != id_) return;
        message_ = message.substr(std::min(message.size(), id_.size() + 1));
      },
      [this] { subscribed_ = true; });
  while (!subscribed_ && failure_.empty()) loop_.iterate(true);
  if (!failure_.empty()) throw QueryError(503, failure_);
  since_ = feed_.now();
}

std::string JobWait::result_of_known(std::optional<Duration> timeout) {
  feed_.check();
  const WallTime start = std::exchange(since_, WallTime{0});
  const auto job = feed_.job(id_);
  if (!job) return past_result();
  if (job->state == "stalled") refuse_stalled();
  // An earlier run may be of another job with this ID.
  since_ = start;
  return result(timeout);
}

std::string JobWait::result(std::optional<Duration> timeout) {
  bool too_late = false;
  bool due = false;
  Timer end(loop_.timers());
  Timer next_check(loop_.timers());
  if (timeout) end.set(loop_.now() + *timeout, [&too_late] { too_late = true; });
  const auto arm = [&] { next_check.set(loop_.now() + check_interval, [&due] { due = true; }); };
  arm();
  while (!too_late) {
    loop_.iterate(true);
    const bool is_due = std::exchange(due, false);
    if (message_) accept_message();
    if (result_) return *result_;
    if (!is_due) continue;
    check();
    arm();
  }
  throw QueryError(409, escape_text(id_) + " is not finished after " + format_duration(*timeout));
}

/// Uses the message as the result, unless the feed still has the job, which was put again during
/// its run. If Redis is not available, the next check repeats this.
void JobWait::accept_message() {
  std::optional<std::string> message = std::exchange(message_, std::nullopt);
  try {
    if (feed_.job(id_)) return;
    result_ = message_ ? std::move(message_) : std::move(message);
  } catch (const RedisError& error) {
    if (!is_unreachable(error) && !redis::is_about_server(error.code())) throw;
    if (!message_) message_ = std::move(message);
  }
}

/// Checks the state of the job. If two checks in a row do not find the job, its message was missed.
void JobWait::check() {
  try {
    const auto job = feed_.job(id_);
    if (message_) return;
    if (job) report_failure(*job);
    if (job && job->state == "stalled") refuse_stalled();
    if (!job && was_gone_) result_ = past_result();
    was_gone_ = !job;
  } catch (const RedisError& error) {
    if (!is_unreachable(error) && !redis::is_about_server(error.code())) throw;
  }
}

/// Reports a failed run. The history is only read when the job has changed.
void JobWait::report_failure(const view::ItemView& job) {
  std::string state = std::string(job.state) + ' ' + std::to_string(job.failures) + ' ' + job.run;
  if (std::exchange(last_state_, state) == state) return;
  const auto run = last_run();
  if (!run || !run->failed() || run->run == reported_) return;
  reported_ = run->run;
  complain_(escape_text(id_) + ": " + cause_of(*run) + " (run " + escape(run->run) + ")");
  for (const std::string_view line : last_lines(run->error_output))
    complain_("  " + escape(line, shown_of_line));
}

/// Returns the last run of the job in the history; nullopt: there is none.
std::optional<view::RunRecord> JobWait::last_run() {
  std::vector<view::RunRecord> runs = feed_.runs(id_);
  if (runs.empty() || runs.front().entered < since_) return std::nullopt;
  return std::move(runs.front());
}

void JobWait::refuse_stalled() {
  const auto run = last_run();
  const std::string cause = !run || !run->failed() ? ""
                            : run->stalled.empty() ? ": " + cause_of(*run)
                                                   : ": " + escape(run->stalled);
  throw QueryError(409, escape_text(id_) + " is stalled" + cause +
                            " (w8yctl job retry returns it to the queue)");
}

/// Returns the result of a job that does not exist any more. Throws QueryError if it has none.
std::string JobWait::past_result() {
  if (auto kept = feed_.kept_result(id_); kept && kept->state == "finished" && kept->result)
    return std::move(*kept->result);
  const auto run = last_run();
  if (run && !run->failed()) return message_of(run->result);
  if (since_ == WallTime{0} && !run)
    throw QueryError(404, "the job " + escape_text(id_) + " is neither in the feed " +
                              escape_text(feed_.keys().feed) + " nor in the history");
  throw QueryError(409, escape_text(id_) +
                            " is gone, and no result was received: it was finished without one, "
                            "or retracted" +
                            (run ? "; its last run " + cause_of(*run) : ""));
}

void JobWait::on_up() {
  if (std::exchange(in_outage_, false)) complain_("Redis available again");
}

void JobWait::on_down(const std::string& why) {
  if (!subscribed_) {
    failure_ = why;
  } else if (!std::exchange(in_outage_, true)) {
    complain_("Redis unavailable, retrying: " + escape(why));
  }
}

void JobWait::on_refused(const std::string& channel, const std::string& why) {
  failure_ = escape_text(channel) + ": " + escape(why);
}

}  // namespace w8y::verbs
