#include "operator/feed_jobs.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/number.hpp"
#include "operator/job_feeds.hpp"
#include "operator/stored.hpp"
#include "store/lock_value.hpp"
#include "store/thoonk/job_note.hpp"

namespace w8y::verbs {

using view::ItemView;

namespace {

/// Elements per reply.
constexpr std::int64_t jobs_of_page = 1000;
constexpr const char* jobs_at_once = "1000";

/// Reads a claim, and the record of w8yd if it is about this claim.
void set_claim(ItemView& job, const std::string& score, const store::thoonk::JobNote* note) {
  job.state = "claimed";
  job.since = read_score_time(score);
  if (note == nullptr || std::to_string(note->score) != score) return;
  job.state = note->held_until ? "delayed" : "running";
  if (note->held_until) job.until = WallTime(*note->held_until);
  job.quarantined_at_end = note->stalls;
  const store::LockValue value = store::read_lock_value(note->run);
  if (const auto* running = std::get_if<store::RunningLock>(&value)) {
    job.host = running->host;
    job.pid = running->pid;
    job.run = running->run;
  }
}

class FeedJobs {
 public:
  FeedJobs(redis::SyncClient& client, FeedServer at, const std::string& feed)
      : client_(client), keys_(feed) {
    JobFeed access(at, feed);
    scan(client_, "HSCAN", keys_.cancelled, jobs_at_once, [this](const redis::ReplyCopy* pair) {
      cancels_[pair[0].text] = stored_number(pair[1].text);
      return true;
    });
    read_claims();
    read_queue();
    scan(client_, "SSCAN", keys_.stalled, jobs_at_once, [this](const redis::ReplyCopy* id) {
      add(id->text, "stalled");
      return true;
    });
    access.ids([this](std::string&& id) { add(std::move(id), "orphaned"); });
  }

  std::vector<ItemView> jobs;

 private:
  void add(std::string id, const char* state, std::size_t place = 0) {
    ItemView job = view::item_named(std::move(id));
    job.state = state;
    job.queue_position = place;
    add(std::move(job));
  }
  void add(ItemView&& job) {
    if (!known_.insert(job.item).second) return;
    if (const auto found = cancels_.find(job.item); found != cancels_.end())
      job.failures = found->second;
    jobs.push_back(std::move(job));
  }

  void read_claims() {
    std::unordered_map<std::string, store::thoonk::JobNote> notes;
    scan(client_, "HSCAN", keys_.taken, jobs_at_once, [&notes](const redis::ReplyCopy* pair) {
      if (auto note = store::thoonk::read_job_note(pair[1].text))
        notes.insert_or_assign(pair[0].text, std::move(*note));
      return true;
    });
    std::map<std::pair<double, std::string>, std::string> claimed;  // oldest claim first
    scan(client_, "ZSCAN", keys_.claimed, jobs_at_once, [&claimed](const redis::ReplyCopy* pair) {
      const std::string& score = pair[1].text;
      claimed.insert_or_assign({read_real(score).value_or(0), pair[0].text}, score);
      return true;
    });
    for (const auto& [at, score] : claimed) {
      const std::string& id = at.second;
      ItemView job = view::item_named(id);
      const auto note = notes.find(id);
      set_claim(job, score, note == notes.end() ? nullptr : &note->second);
      add(std::move(job));
    }
  }

  /// Reads in parts, from the end where jobs are claimed. A job that moves meanwhile is added once,
  /// or is found elsewhere.
  void read_queue() {
    for (std::int64_t place = 0;;) {
      const auto ids = client_.call(
          {"LRANGE", keys_.ids, std::to_string(-place - jobs_of_page), std::to_string(-place - 1)});
      for (auto id = ids.elements.rbegin(); id != ids.elements.rend(); ++id)
        add(id->text, "queued", static_cast<std::size_t>(++place));
      if (static_cast<std::int64_t>(ids.elements.size()) < jobs_of_page) return;
    }
  }

  redis::SyncClient& client_;
  const store::FeedKeys keys_;
  std::unordered_set<std::string> known_;
  std::unordered_map<std::string, std::int64_t> cancels_;
};

}  // namespace

std::vector<std::optional<ItemView>> read_feed_jobs_named(redis::SyncClient& client,
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
      commands.empty() ? std::vector<redis::ReplyCopy>() : client.call_all(commands);
  std::vector<std::optional<ItemView>> jobs;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const redis::ReplyCopy* of = &told[i * each];
    ItemView job = view::item_named(ids[i]);
    job.state = "queued";
    job.failures = stored_number(of[4].text);
    if (!of[1].is_nil()) {
      const auto note = store::thoonk::read_job_note(of[2].text);
      set_claim(job, of[1].text, note ? &*note : nullptr);
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

view::ItemList read_feed_jobs(redis::SyncClient& client, bool cluster, const std::string& feed,
                              const std::string& state, std::size_t most) {
  view::ItemList list;
  list.items = std::move(FeedJobs(client, {client, cluster}, feed).jobs);
  list.length = list.items.size();
  for (const ItemView& job : list.items) ++list.states[std::string(job.state)];
  if (!state.empty())
    std::erase_if(list.items, [&state](const ItemView& job) { return state != job.state; });
  if (most > 0 && list.items.size() > most) list.items.resize(most);
  return list;
}

std::optional<ItemView> read_feed_job(redis::SyncClient& client, const std::string& feed,
                                      const std::string& id) {
  auto job = std::move(read_feed_jobs_named(client, feed, {id}).front());
  if (!job) return job;
  const store::FeedKeys keys(feed);
  const std::string lease = keys.lease(id);
  if (job->state == "queued") {
    const auto place = client.pipeline({{"LPOS", keys.ids, id, "RANK", "-1"}, {"LLEN", keys.ids}});
    if (place[0].kind == redis::ReplyCopy::Kind::integer) {
      job->queue_position =
          static_cast<std::size_t>(std::max<std::int64_t>(1, place[1].number - place[0].number));
    } else {
      job->state = "orphaned";
    }
  } else if (job->state != "stalled") {
    job->left = read_ms(client.call({"PTTL", lease}).number);
  }
  return job;
}

void read_payloads(QueryContext& query, const std::string& feed, std::vector<ItemView>& jobs,
                   bool whole) {
  JobFeed access({query.redis, query.cluster()}, feed);
  std::vector<std::string> ids;
  for (const ItemView& job : jobs) ids.push_back(job.item);
  const std::vector<DisplayItem> starts = access.starts(ids);
  std::vector<std::string> longer;
  std::unordered_map<std::string, ItemView*> by_id;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].payload = starts[i].beginning;
    jobs[i].payload_length = starts[i].length;
    if (!whole || !starts[i].is_truncated()) continue;
    longer.push_back(ids[i]);
    by_id[ids[i]] = &jobs[i];
  }
  std::vector<std::pair<std::string, std::size_t>> too_long;
  access.values(
      longer,
      [&by_id](const std::string& id, std::string&& payload) {
        by_id[id]->payload_length = payload.size();
        by_id[id]->payload = std::move(payload);
      },
      too_long);
}

}  // namespace w8y::verbs
