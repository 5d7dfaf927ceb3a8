// Invariants of jobs that are put again while the feed has them (`job put --rerun`). The mark of
// a put is its payload.
#include "simulation/invariants_jobs.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

constexpr const char* no_mark_is_lost = "no mark of a rerun is lost";

}  // namespace

/// Returns the payload that waits for the end of a run, or an empty string.
std::string JobWatch::waiting_payload(Server& server, const std::string& id) const {
  const Hash* waiting = server.keys().find<Hash>(reruns_);
  if (waiting == nullptr || !waiting->contains(id)) return {};
  const std::string& text = waiting->at(id);  // "KEEP_MS PAYLOAD"
  return text.substr(text.find(' ') + 1);
}

void JobWatch::claimed_by_another(Server& server, const std::string& id) {
  const std::string which = server.name() + ' ' + id;
  others_.insert(which);
  const auto mark = marks_.find(which);
  if (mark == marks_.end()) return;
  mark->second.late = true;
  const Hash* items = server.keys().find<Hash>(keys_.items);
  if (items == nullptr || !items->contains(id) || items->at(id) != mark->second.payload) return;
  again_.erase(which);  // its finish removes the job
  marks_.erase(mark);
}

void JobWatch::after_put(Server& server, const Server::Command& command, const Value& reply) {
  constexpr std::size_t first = 7, of_job = 4;
  if (reply.elements.size() < 2 || reply.elements[0].text != "written") return;
  const std::string& results = reply.elements[1].text;
  std::size_t at = first;
  for (const char result : results) {
    const std::string &id = command.arg[at], &payload = command.arg[at + 1];
    const std::string which = server.name() + ' ' + id;
    if (result == '1') finished_.erase(which);
    if (result == '3') again_.insert(which);
    if (result >= '1' && result <= '3')
      marks_[which] = {payload, result == '3' && others_.contains(which)};
    at += of_job;
  }
}

/// Checks that a claimed job has the payload of its last put.
void JobWatch::check_payload(Server& server, const std::string& id, const std::string& payload,
                             const std::string& who) {
  const std::string which = server.name() + ' ' + id;
  const auto mark = marks_.find(which);
  if (mark == marks_.end()) {
    again_.erase(which);  // the claim is newer than each put, so its finish removes the job
  } else if (payload == mark->second.payload) {
    again_.erase(which);
    marks_.erase(mark);
  } else if (!mark->second.late) {
    promises_.break_promise(no_mark_is_lost,
                            id + " is claimed by " + who + " with an earlier payload than " +
                                brief(mark->second.payload),
                            {about(id), who});
  }
}

bool JobWatch::finish_marked(Server& server, const std::string& id, const std::string& run) {
  const Hash* items = server.keys().find<Hash>(keys_.items);
  const bool is_there = items != nullptr && items->contains(id);
  if (again_.erase(server.name() + ' ' + id) > 0) return true;
  if (is_there)
    promises_.break_promise("one mark gives at most one more run",
                            id + " stays in the feed after run " + run + " has finished it",
                            {about(id)});
  return false;
}

/// Checks that the payload of each put is in the feed until a claim: as that of the job, or waiting
/// for the end of its run.
void JobWatch::check_marks(Server& server, const Server::Command& command) {
  const std::string begin = server.name() + ' ';
  const Hash* items = server.keys().find<Hash>(keys_.items);
  const bool by_user = command.script == &store::scripts::job_change;
  for (auto mark = marks_.lower_bound(begin);
       mark != marks_.end() && mark->first.starts_with(begin);) {
    const std::string id = mark->first.substr(begin.size());
    const bool is_there = items != nullptr && items->contains(id);
    const std::string waits = waiting_payload(server, id);
    // With a missing permission, maintenance does the rest.
    if (!server.forbidden().empty()) mark->second.late = true;
    if (waits == mark->second.payload || (is_there && items->at(id) == mark->second.payload)) {
      ++mark;
    } else if (by_user && !is_there && waits.empty()) {
      mark = marks_.erase(mark);
    } else {
      return promises_.break_promise(
          no_mark_is_lost,
          "the payload " + brief(mark->second.payload) + " of " + id + " is gone after a call of " +
              command.who + "; the job has " + (is_there ? brief(items->at(id)) : "no payload") +
              ", and " + (waits.empty() ? "none" : brief(waits)) + " waits",
          {about(id), command.who});
    }
  }
  // The mark is served if the next attempt has the payload.
  std::erase_if(again_, [&](const std::string& which) {
    return which.starts_with(begin) && waiting_payload(server, which.substr(begin.size())).empty();
  });
}

/// Checks in the calm that maintenance handles the payloads of jobs that are not claimed.
void JobWatch::check_waiting(Server& server) {
  const Hash* waiting = server.keys().find<Hash>(reruns_);
  const std::string begin = server.name() + ' ';
  std::map<std::string, Instant> before;
  before.swap(waits_);
  for (const auto& [which, since] : before)
    if (!which.starts_with(begin)) waits_.emplace(which, since);
  if (waiting == nullptr) return;
  for (const auto& [id, text] : *waiting) {
    if (is_claimed(server, id)) continue;
    const std::string which = begin + id;
    const auto known = before.find(which);
    const Instant since = known == before.end() ? promises_.now() : known->second;
    waits_.emplace(which, since);
    if (promises_.now() - since > max_looks)
      return promises_.break_promise(
          no_mark_is_lost, "a payload of " + id + " waits, and no client has claimed the job",
          {about(id)});
  }
}

}  // namespace w8y::sim
