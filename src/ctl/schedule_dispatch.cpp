// Dispatches without w8yd: moves due jobs to their queues, until HALT.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/schedule_common.hpp"
#include "ctl/schedule_file.hpp"
#include "ctl/text.hpp"
#include "loop/watch.hpp"
#include "operator/schedule_dispatcher.hpp"

namespace w8y::ctl {

namespace {

/// Time of the last dispatch, for Redbike, which continues there after a downtime.
class TimeFile {
 public:
  explicit TimeFile(std::string path) : path_(std::move(path)) {}

  /// Reads the time; nullopt: there is no file. Throws Failure if the file holds no time.
  [[nodiscard]] std::optional<verbs::UnixSeconds> read() const {
    errno = 0;
    std::ifstream file(path_, std::ios::binary);
    if (!file.is_open() && errno == ENOENT) return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(file), {}};
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    const auto time = read_integer(text, range_of<verbs::UnixSeconds>);
    if (!file.is_open() || !time)
      throw Failure(refused, "the time file " + escape_text(path_) +
                                 " cannot be read or has no Unix time; delete it to start now");
    return time;
  }

  /// Writes at most once per second.
  void write(verbs::UnixSeconds time) {
    if (path_.empty() || time == written_) return;
    written_ = time;
    const std::string made = path_ + ".0";
    std::ofstream file(made, std::ios::binary | std::ios::trunc);
    file << time;
    file.close();
    const bool good = file.good() && std::rename(made.c_str(), path_.c_str()) == 0;
    if (!good && !reported_)
      complain("cannot write " + escape_text(path_) + ": " + strerror(errno));
    reported_ = !good;
  }

 private:
  std::string path_;  ///< empty: none
  verbs::UnixSeconds written_ = -1;
  bool reported_ = false;
};

void report_refused(const verbs::DispatchReply& reply) {
  if (reply.refused == 0) return;
  const std::string others =
      reply.refused == 1 ? "" : " and " + std::to_string(reply.refused - 1) + " others";
  complain(escape_text(reply.first_refused) + others + " cannot be queued: " + escape(reply.why));
}

/// Dispatches until HALT, SIGTERM or SIGINT.
class Dispatch final : private verbs::ScheduleDispatcher::Handler {
 public:
  Dispatch(Context& context, const verbs::ScheduleKeys& keys, TimeFile& time_file)
      : time_file_(time_file), dispatcher_(context.connection(), keys, *this) {
    for (const int number : {SIGTERM, SIGINT})
      signals_.push_back(std::make_unique<loop::SignalWatch>(
          context.loop(), number, [&loop = context.loop()](int) { loop.stop(); }));
  }

  void run(std::optional<verbs::UnixSeconds> first) { dispatcher_.run(first); }

 private:
  void on_dispatched(const verbs::DispatchReply& reply) override {
    report_refused(reply);
    time_file_.write(reply.now.count() / 1000);
  }
  void on_error(const std::string& why) override { complain(escape(why) + "; retrying"); }
  void on_recovered() override { complain("Redis available again"); }

  TimeFile& time_file_;
  verbs::ScheduleDispatcher dispatcher_;
  std::vector<std::unique_ptr<loop::SignalWatch>> signals_;
};

class ScheduleDispatch final : public Command {
 public:
  void declare(Arguments& words) override {
    words.option("--schedules", "CSV", "a file", "Set the jobs of this file first", schedules_);
    declare_time(words, "--after", "Start with jobs due at TIME (default: time file, else now)",
                 after_);
    words.option("--timefile", "FILE", "a file", "Keep the time of the last dispatch in this file",
                 time_file_);
    words.flag("--once", "Dispatch once, even after HALT", once_);
  }

  int run(const Options& options, Context& context) override {
    verbs::ScheduleChanges changes = schedules_of(options, context);
    TimeFile time_file(time_file_);
    std::optional<verbs::UnixSeconds> first = after_;
    if (!first && !time_file_.empty()) first = time_file.read();
    std::optional<ScheduleFile> file;
    if (schedules_) file = read_schedule_file(*schedules_);
    if (file && !file->errors.empty()) refuse(*file, "nothing was done");
    if (!once_) changes.resume();
    if (file) set(*file, changes);
    if (once_) return dispatch_once(changes, first, time_file);
    Dispatch(context, changes.keys(), time_file).run(first);
    return done;
  }

 private:
  /// Reports each line with an invalid schedule, and sets the other jobs.
  void set(const ScheduleFile& file, verbs::ScheduleChanges& changes) const {
    const verbs::UnixSeconds now = changes.now();
    std::vector<verbs::SetJob> all;
    std::vector<std::string> why_bad;
    for (const auto& row : file.rows) {
      verbs::Decision decision = verbs::decide(row.schedule, now);
      why_bad.push_back(std::move(decision.why_bad));
      all.push_back({row.job, std::move(decision.schedule), decision.effect});
    }
    const std::vector<std::size_t> unchanged = set_schedules(changes, all, now, false);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!why_bad[i].empty())
        complain(place_in(*schedules_, file.rows[i].line) +
                 bad_schedule_text(all[i].job, why_bad[i],
                                   std::binary_search(unchanged.begin(), unchanged.end(), i)));
  }

  static int dispatch_once(verbs::ScheduleChanges& changes, std::optional<verbs::UnixSeconds> up_to,
                           TimeFile& time_file) {
    bool all_queued = true;
    verbs::DispatchReply reply;
    do {
      reply = changes.dispatch({up_to, true});
      report_refused(reply);
      all_queued = all_queued && reply.refused == 0;
    } while (reply.more && reply.taken_off > reply.refused);
    time_file.write(reply.now.count() / 1000);
    return all_queued ? done : refused;
  }

  std::optional<std::string> schedules_;
  std::optional<verbs::UnixSeconds> after_;
  std::string time_file_;
  bool once_ = false;
};

}  // namespace

const CommandMaker make_schedule_dispatch = new_command<ScheduleDispatch>;

}  // namespace w8y::ctl
