#include "app/look/feed_jobs.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "app/look/stored.hpp"
#include "core/number.hpp"
#include "store/lock_value.hpp"
#include "store/thoonk/job_feed.hpp"
#include "store/thoonk/job_note.hpp"

namespace w8y::app::look {

namespace {

/// Elements of one answer.
constexpr std::int64_t jobs_of_page = 1000;
constexpr const char* jobs_at_once = "1000";

/// What the claim says, and the note of ours if it is about this claim.
void take_claim(FeedJob& job, const std::string& score, const store::thoonk::JobNote* note) {
  job.state = "claimed";
  job.since = read_score_time(score);
  if (note == nullptr || std::to_string(note->score) != score) return;
  job.state = note->held_until ? "resting" : "running";
  if (note->held_until) job.until = WallTime(*note->held_until);
  job.run = note->run;
  job.stalls = note->stalls;
}

class FeedJobs {
 public:
  FeedJobs(redis::SyncClient& client, store::FeedServer at, const std::string& feed)
      : client_(client), keys_(feed) {
    store::JobFeed access(at, feed);
    scan("HSCAN", keys_.cancelled, 2, [this](const redis::ReplyCopy* pair) {
      cancels_[pair[0].text] = stored_number(pair[1].text);
    });
    read_claims();
    read_queue();
    scan("SSCAN", keys_.stalled, 1, [this](const redis::ReplyCopy* id) {
      add({id->text, "stalled", {}, {}, 0, 0, {}, false});
    });
    access.ids([this](std::string&& id) {
      add({std::move(id), "nowhere", {}, {}, 0, 0, {}, false});
    });
  }

  std::vector<FeedJob> jobs;

 private:
  void add(FeedJob&& job) {
    if (!known_.emplace(job.id, true).second) return;
    if (const auto found = cancels_.find(job.id); found != cancels_.end())
      job.failures = found->second;
    jobs.push_back(std::move(job));
  }

  /// In parts, so that Redis is never held for long. `each` may get an element twice.
  template <typename Each>
  void scan(const char* command, const std::string& key, std::size_t words, Each each) {
    std::string cursor = "0";
    do {
      const auto part = client_.call({command, key, cursor, "COUNT", jobs_at_once});
      cursor = part.elements.at(0).text;
      const auto& found = part.elements.at(1).elements;
      for (std::size_t i = 0; i + words <= found.size(); i += words) each(&found[i]);
    } while (cursor != "0");
  }

  void read_claims() {
    std::unordered_map<std::string, store::thoonk::JobNote> notes;
    scan("HSCAN", keys_.taken, 2, [&notes](const redis::ReplyCopy* pair) {
      if (auto note = store::thoonk::read_job_note(pair[1].text))
        notes.insert_or_assign(pair[0].text, std::move(*note));
    });
    std::map<std::pair<double, std::string>, std::string> claimed;  // the longest first
    scan("ZSCAN", keys_.claimed, 2, [&claimed](const redis::ReplyCopy* pair) {
      const std::string& score = pair[1].text;
      claimed.insert_or_assign({read_real(score).value_or(0), pair[0].text}, score);
    });
    for (const auto& [at, score] : claimed) {
      const std::string& id = at.second;
      FeedJob job{id, "claimed", {}, {}, 0, 0, {}, false};
      const auto note = notes.find(id);
      take_claim(job, score, note == notes.end() ? nullptr : &note->second);
      add(std::move(job));
    }
  }

  /// From the taking end on, in parts: what moves meanwhile is told once, or is found elsewhere.
  void read_queue() {
    for (std::int64_t place = 0;;) {
      const auto ids = client_.call(
          {"LRANGE", keys_.ids, std::to_string(-place - jobs_of_page), std::to_string(-place - 1)});
      for (auto id = ids.elements.rbegin(); id != ids.elements.rend(); ++id)
        add({id->text, "waiting", {}, {}, static_cast<std::size_t>(++place), 0, {}, false});
      if (static_cast<std::int64_t>(ids.elements.size()) < jobs_of_page) return;
    }
  }

  redis::SyncClient& client_;
  const store::FeedKeys keys_;
  std::unordered_map<std::string, bool> known_;
  std::unordered_map<std::string, std::int64_t> cancels_;
};

}  // namespace

ops::Json to_json(const FeedJob& job) {
  ops::Json json = ops::Json::object();
  ops::put_item(json, job.id);
  json["state"] = job.state;
  json["failures"] = job.failures;
  if (job.since) json["since_ms"] = job.since->count();
  if (job.until) json["until_ms"] = job.until->count();
  if (job.place > 0) json["place"] = job.place;
  const store::LockValue value = store::read_lock_value(job.run);
  if (const auto* running = std::get_if<store::RunningLock>(&value)) {
    ops::put_bytes(json, "host", std::string(running->host));
    ops::put_bytes(json, "run", std::string(running->run));
  }
  if (job.stalls) json["stalled_at_end"] = true;
  return json;
}

std::vector<std::optional<FeedJob>> read_feed_jobs_named(redis::SyncClient& client,
                                                         const std::string& feed,
                                                         const std::vector<std::string>& ids) {
  const store::FeedKeys keys(feed);
  std::vector<redis::Command> commands;
  for (const std::string& id : ids)
    commands.insert(commands.end(), {{"HEXISTS", keys.items, id},
                                     {"ZSCORE", keys.claimed, id},
                                     {"HGET", keys.taken, id},
                                     {"SISMEMBER", keys.stalled, id},
                                     {"HGET", keys.cancelled, id}});
  const std::size_t each = 5;
  const std::vector<redis::ReplyCopy> told =
      commands.empty() ? std::vector<redis::ReplyCopy>() : client.pipeline(commands);
  for (const redis::ReplyCopy& reply : told)
    if (reply.is_error()) throw redis::RedisError(reply.text, redis::error_code(reply.text));
  std::vector<std::optional<FeedJob>> jobs;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const redis::ReplyCopy* of = &told[i * each];
    FeedJob job;
    job.id = ids[i];
    job.state = "waiting";
    job.failures = stored_number(of[4].text);
    if (!of[1].is_nil()) {
      const auto note = store::thoonk::read_job_note(of[2].text);
      take_claim(job, of[1].text, note ? &*note : nullptr);
    } else if (of[3].number == 1) {
      job.state = "stalled";
    } else if (of[0].number == 0) {
      jobs.emplace_back();
      continue;
    }
    jobs.emplace_back(std::move(job));
  }
  return jobs;
}

std::vector<FeedJob> read_feed_jobs(redis::SyncClient& client, bool cluster,
                                    const std::string& feed) {
  return std::move(FeedJobs(client, {client, cluster}, feed).jobs);
}

}  // namespace w8y::app::look
