#include "operator/schedule_jobs.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "core/job_code.hpp"
#include "core/number.hpp"
#include "operator/job_total.hpp"
#include "operator/stored.hpp"
#include "schedule/schedule.hpp"
#include "store/lock_value.hpp"

namespace w8y::verbs {

namespace {

using redis::ReplyCopy;

/// Jobs per reply, and jobs per reply after a reply that was too large.
constexpr std::int64_t long_page = 10'000;
constexpr std::int64_t short_job_page = 500;
constexpr std::int64_t shorter_page = 16;
/// Names and bytes per batch; each name is sent five times.
constexpr std::size_t jobs_of_batch = 2'000;
constexpr std::size_t job_bytes_of_batch = std::size_t{1} << 20;
/// Bytes to read of a tag, which may be from another program.
constexpr const char* max_of_tag = "127";

/// Record of a claim by w8yd.
struct Taken {
  std::string run;  ///< "run:<host>:<pid>:<run id>"
  std::string tag;
};

/// Limit far above the size of a claim's record.
constexpr std::size_t max_of_note = std::size_t{16} << 10;

Taken read_taken(const std::string& note) {
  const auto json = view::JsonFields::parse(note, max_of_note);
  return json ? Taken{json->text("run"), json->text("tag")} : Taken{};
}

class Reader {
 public:
  Reader(redis::SyncClient& client, const ScheduleOfList& schedule, const std::string& state,
         std::size_t most)
      : client_(client),
        keys_(schedule.keys),
        shared_(schedule.shared),
        state_(state),
        most_(most),
        page_(most == 0 ? long_page : short_job_page) {}

  /// Reads one job; nullopt: the schedule does not have it.
  std::optional<JobState> one(const Job& job) {
    const std::string code(code_of(job));
    const std::string key = keys_.queue(code);
    const std::vector<ReplyCopy> begin = client_.pipeline({{"TIME"},
                                                           {"LPOS", key, job, "RANK", "-1"},
                                                           {"LLEN", key},
                                                           {"HEXISTS", keys_.schedules, job}});
    now_ = redis::server_time(begin[0]).count() / 1000;
    if (begin[1].is_error()) throw error_at(begin[1].text, redis::ErrorCode::other, key);
    if (!begin[1].is_nil())
      queued_.try_emplace(
          job, code,
          static_cast<std::size_t>(std::max<std::int64_t>(1, begin[2].number - begin[1].number)));
    record_list({job});
    if (jobs_.empty()) return std::nullopt;
    const JobState& found = jobs_.front();
    const bool known =
        found.status || found.due || begin[3].number == 1 || found.state != "orphaned";
    return known ? std::optional(found) : std::nullopt;
  }

  view::ItemList read(const std::vector<std::string>& codes) {
    begin();
    read_all(codes);
    found_.whole = !full();
    if (full()) found_.length = number_of_jobs(client_, {keys_, shared_});
    if (full()) jobs_.resize(most_);
    found_.items.assign(std::move_iterator(jobs_.begin()), std::move_iterator(jobs_.end()));
    return std::move(found_);
  }

  std::vector<JobState> read_named(const std::vector<Job>& jobs) {
    begin();
    record_list(jobs);
    return std::move(jobs_);
  }

 private:
  void begin() {
    const std::vector<ReplyCopy> told = client_.pipeline({{"TIME"}, {"HLEN", keys_.statuses}});
    now_ = redis::server_time(told[0]).count() / 1000;
    if (told[1].is_error()) throw error_at(told[1].text, redis::ErrorCode::other, keys_.statuses);
  }

  void read_all(const std::vector<std::string>& codes) {
    std::vector<Job> taken;
    hash(keys_.taken, [&](std::string& job, std::string&) { taken.push_back(std::move(job)); });
    std::sort(taken.begin(), taken.end());  // Redis has no order for them
    record_list(taken);
    for (const auto& code : codes) queue(code);
    timeline();
    hash(keys_.statuses,
         [this](std::string& job, std::string&) { next_.push_back(std::move(job)); });
    hash(keys_.schedules,
         [this](std::string& job, std::string&) { next_.push_back(std::move(job)); });
  }

  [[nodiscard]] bool full() const { return most_ > 0 && jobs_.size() > most_; }

  /// Reads one page, or shorter pages if a reply is too large.
  template <typename Make>
  ReplyCopy page(const std::string& key, const Make& make) {
    while (true) {
      const std::string count = std::to_string(page_);
      try {
        return make(count);
      } catch (const redis::RedisError& error) {
        if (error.code() != redis::ErrorCode::none || page_ == 1)
          throw error_at(error.what(), error.code(), key);
        if (!client_.reconnect()) throw;
        page_ = std::max<std::int64_t>(1, page_ / shorter_page);
      }
    }
  }

  template <typename Take>
  void hash(const std::string& key, const Take& take) {
    std::string cursor = "0";
    do {
      if (full()) return;
      ReplyCopy reply = page(key, [&](const std::string& count) {
        return client_.call({"HSCAN", key, cursor, "COUNT", count});
      });
      if (reply.elements.size() < 2) return;
      cursor = reply.elements[0].text;
      auto& told = reply.elements[1].elements;
      for (std::size_t i = 0; i + 1 < told.size(); i += 2) take(told[i].text, told[i + 1].text);
      flush();
    } while (cursor != "0");
  }

  void timeline() {
    for (std::int64_t first = 0; !full();) {
      ReplyCopy reply = page(keys_.timeline, [&](const std::string& count) {
        const std::string from = std::to_string(first);
        const std::string to = std::to_string(first + std::stoll(count) - 1);
        return client_.call({"ZRANGE", keys_.timeline, from, to});
      });
      for (auto& job : reply.elements) next_.push_back(std::move(job.text));
      first += static_cast<std::int64_t>(reply.elements.size());
      const bool last = static_cast<std::int64_t>(reply.elements.size()) < page_;
      flush();
      if (last) return;
    }
  }

  /// Reads a queue, from the end where jobs are claimed.
  void queue(const std::string& code) {
    if (!codes_.insert(code).second) return;
    const std::string key = keys_.queue(code);
    for (std::int64_t read = 0; !full();) {
      ReplyCopy reply = page(key, [&](const std::string& count) {
        const std::string from = std::to_string(-read - std::stoll(count));
        const std::string to = std::to_string(-read - 1);
        return client_.call({"LRANGE", key, from, to});
      });
      std::vector<Job> jobs;
      for (auto at = reply.elements.rbegin(); at != reply.elements.rend(); ++at) {
        ++read;
        queued_.try_emplace(at->text, code, static_cast<std::size_t>(read));
        jobs.push_back(std::move(at->text));
      }
      const bool last = static_cast<std::int64_t>(jobs.size()) < page_;
      record_list(jobs);
      if (last) return;
    }
  }

  /// Reads the jobs of a page, after the queues that they name.
  void flush() {
    const std::vector<Job> jobs = std::exchange(next_, {});
    for (const auto& job : jobs)
      if (code_error(code_of(job)).empty() && !shared_.has_job(job))
        queue(std::string(code_of(job)));
    record_list(jobs);
  }

  void record_list(const std::vector<Job>& jobs) {
    std::vector<const Job*> some;
    std::size_t bytes = 0;
    for (const auto& job : jobs) {
      if (full()) return;
      if (shared_.has_job(job)) continue;
      const auto [place, is_new] = seen_.insert(job);
      if (!is_new) continue;
      some.push_back(&*place);
      bytes += job.size();
      if (some.size() < jobs_of_batch && bytes < job_bytes_of_batch) continue;
      query_states(some);
      some.clear();
      bytes = 0;
    }
    query_states(some);
  }

  void query_states(const std::vector<const Job*>& jobs) {
    if (jobs.empty()) return;
    std::vector<std::string> names;  // the commands refer to it
    names.reserve(2 * jobs.size());
    redis::Command statuses{"HMGET", keys_.statuses};
    redis::Command failures{"HMGET", keys_.failures};
    redis::Command scores{"ZMSCORE", keys_.timeline};
    redis::Command taken{"HMGET", keys_.taken};
    std::vector<redis::Command> commands{{"MULTI"}};
    for (const Job* job : jobs) {
      for (redis::Command* command : {&statuses, &failures, &scores, &taken})
        command->emplace_back(*job);
      const std::string& key = names.emplace_back(keys_.working(*job));
      const std::string& members = names.emplace_back(keys_.members(code_of(*job)));
      commands.insert(
          commands.end(),
          {{"PTTL", key}, {"GETRANGE", key, "0", max_of_tag}, {"SISMEMBER", members, *job}});
    }
    for (redis::Command* command : {&statuses, &failures, &scores, &taken})
      commands.push_back(std::move(*command));
    commands.push_back({"EXEC"});
    const ReplyCopy executed = std::move(client_.pipeline(commands).back());
    if (executed.is_error()) throw error_at(executed.text, redis::ErrorCode::other, keys_.statuses);
    handle(jobs, executed.elements);
  }

  void handle(const std::vector<const Job*>& jobs, const std::vector<ReplyCopy>& told) {
    const std::size_t count = 3 * jobs.size();
    const std::string* keys[] = {&keys_.statuses, &keys_.failures, &keys_.timeline, &keys_.taken};
    if (told.size() != count + std::size(keys)) return;
    for (std::size_t i = 0; i < std::size(keys); ++i) {
      const ReplyCopy& reply = told[count + i];
      if (reply.is_error()) throw error_at(reply.text, redis::ErrorCode::other, *keys[i]);
      if (reply.elements.size() != jobs.size()) return;
    }
    std::vector<JobState> states;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      JobState& state = states.emplace_back();
      static_cast<view::ItemView&>(state) = view::item_named(*jobs[i]);
      state.state = "orphaned";
      state.queue = code_of(state.item);
      set_status(state, told[count].elements[i]);
      state.failures = told[count + 1].elements[i].number;
      Facts facts{told[3 * i], told[3 * i + 1], told[3 * i + 2].number == 1, {}, false, false};
      const ReplyCopy& score = told[count + 2].elements[i];
      facts.on_timeline = !score.is_nil();
      facts.finished = told[count + 1].elements[i].text == "0";
      if (const auto due = facts.on_timeline ? due_second(read_real(score.text)) : std::nullopt)
        state.due = std::chrono::seconds(*due);
      const ReplyCopy& note = told[count + 3].elements[i];
      if (!note.is_nil()) facts.taken = read_taken(note.text);
      state.taken = !note.is_nil();
      state.member = facts.member;
      classify(state, facts);
    }
    add_bad_reasons(states);
    for (auto& state : states) {
      ++found_.states[std::string(state.state)];
      if (state_.empty() || state_ == state.state) jobs_.push_back(std::move(state));
    }
  }

  static void set_status(JobState& state, const ReplyCopy& told) {
    if (told.is_nil()) return;
    state.status = told.text;
    if (const auto status = read_status(state.item, told.text))
      state.since = WallTime(status->time * 1000);
  }

  struct Facts {
    const ReplyCopy& left;   ///< PTTL of the key that marks a running job, ms; -2: no such key
    const ReplyCopy& value;  ///< value of that key
    bool member = false;     ///< whether the job is in the set of queued jobs
    Taken taken;
    bool on_timeline = false;
    bool finished = false;  ///< whether the last run succeeded and ended the schedule
  };

  void classify(JobState& state, const Facts& facts) const {
    if (!facts.left.is_error() && facts.left.number != -2) {
      state.state = "running";
      state.left = read_ms(facts.left.number);
      return set_holder(state, facts);
    }
    const std::string event = state.status ? state.status->substr(0, state.status->find(':')) : "";
    if (const auto queued = queued_.find(state.item); queued != queued_.end()) {
      state.state = "queued";
      state.queue = queued->second.first;
      state.queue_position = queued->second.second;
    } else if (event == "ENQ" && facts.member) {
      state.state = "queued";  // after its queue was read
    } else if (facts.on_timeline) {
      state.state = "scheduled";
    } else if (event == "STP") {
      state.state = facts.finished ? "finished" : "stopped";
    } else if (event == "BAD") {
      state.state = "bad";
    } else if (event == "DIE") {
      state.state = "died";
    } else {
      state.why = why_nowhere(event, facts);
    }
  }

  static const char* why_nowhere(const std::string& event, const Facts& facts) {
    if (!facts.taken.run.empty()) return "its lease has ended; it returns to its queue";
    if (event == "WRK") return "no worker has it; set it again";
    if (event == "ENQ") return "it is in no queue; set it again";
    if (event == "TML") return "it is not on the timeline; set it again";
    return "it has no status; set it again";
  }

  static void set_holder(JobState& state, const Facts& facts) {
    const Taken& taken = facts.taken;
    if (taken.tag.empty() || facts.value.is_error() || taken.tag != facts.value.text) {
      if (!facts.value.is_error()) state.lock = facts.value.text;
      return;
    }
    const store::LockValue run = store::read_lock_value(taken.run);
    if (const auto* ours = std::get_if<store::RunningLock>(&run)) {
      state.host = ours->host;
      state.pid = ours->pid;
      state.run = ours->run;
      if (const auto since = time_of_run(state.run)) state.since = since;
    }
  }

  void add_bad_reasons(std::vector<JobState>& states) const {
    std::vector<JobState*> bad;
    for (auto& state : states)
      if (state.state == "bad") bad.push_back(&state);
    if (bad.empty()) return;
    std::vector<redis::Command> lengths;
    for (const JobState* state : bad) lengths.push_back({"HSTRLEN", keys_.schedules, state->item});
    const std::vector<ReplyCopy> told = client_.pipeline(lengths);
    for (std::size_t i = 0; i < bad.size(); ++i) {
      if (told[i].number > static_cast<std::int64_t>(schedule::max_schedule)) {
        bad[i]->why = "its schedule is longer than 64 KiB";
        continue;
      }
      const ReplyCopy text = client_.call({"HGET", keys_.schedules, bad[i]->item});
      const schedule::Schedule read = schedule::parse_schedule(text.text, now_);
      if (const auto* wrong = std::get_if<schedule::Bad>(&read)) bad[i]->why = wrong->why;
    }
  }

  redis::SyncClient& client_;
  const store::ScheduleKeys& keys_;
  const SharedKeyPrefix& shared_;
  const std::string& state_;
  const std::size_t most_;
  std::int64_t page_;
  store::UnixSeconds now_ = 0;
  view::ItemList found_;  ///< its items are in jobs_ until read() returns
  std::vector<JobState> jobs_;
  std::unordered_map<Job, std::pair<std::string, std::size_t>> queued_;
  std::set<std::string> codes_;   ///< queues that were read
  std::unordered_set<Job> seen_;  ///< jobs that were queried
  std::vector<Job> next_;
};

}  // namespace

view::ItemList read_jobs(redis::SyncClient& client, const ScheduleOfList& schedule,
                         const std::vector<std::string>& codes, const std::string& state,
                         std::size_t most) {
  return Reader(client, schedule, state, most).read(codes);
}

std::vector<JobState> read_jobs_named(redis::SyncClient& client, const ScheduleOfList& schedule,
                                      const std::vector<Job>& jobs) {
  return Reader(client, schedule, {}, 0).read_named(jobs);
}

std::optional<view::ItemView> read_job(redis::SyncClient& client, const ScheduleOfList& schedule,
                                       const Job& job) {
  return Reader(client, schedule, {}, 0).one(job);
}

}  // namespace w8y::verbs
