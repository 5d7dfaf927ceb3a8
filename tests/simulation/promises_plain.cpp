#include "simulation/promises_plain.hpp"

#include <algorithm>

namespace w8y::sim {

namespace {

constexpr std::size_t digits_of_run_id = 26;

bool is_host(const std::string& who) {
  return who.starts_with('h');
}

/// "list1:lock:item", "list1:proc:item"
struct LockName {
  std::string list;
  std::string item;

  static LockName of(const std::string& key) {
    const auto list = key.find(':');
    const auto name = list == std::string::npos ? list : key.find(':', list + 1);
    if (name == std::string::npos) return {};
    return {key.substr(0, list), key.substr(name + 1)};
  }
};

bool is_run(const std::string& value) {
  return value.starts_with("run:") && value.size() > digits_of_run_id;
}

std::string run_of(const std::string& value) {
  return value.substr(value.size() - digits_of_run_id);
}

Duration life_of(const Words& words) {  // SET lock value PX ms
  return std::chrono::milliseconds(number(words[4]));
}

std::string text_at(Server& server, const std::string& key) {
  const auto* text = server.keys().find<std::string>(key);
  return text == nullptr ? std::string() : *text;
}

/// The run that this is the end of, or that is undone: its place is given up. Empty: neither.
std::string run_that_ends(const std::vector<Words>& queued) {
  for (const Words& words : queued)
    if (words[0] == "ZREM" && words[1].ends_with(":slots")) return words[2];
  return {};
}

}  // namespace

void PlainWatch::before(Server& server, const Server::Command& command) {
  if (command.queued == nullptr || !is_host(command.who)) return;
  for (const Words& words : *command.queued)
    promises_.check_size({command.who, words, nullptr, {}, {}});
  check_locks(server, command);
}

/// Who changes a lock has seen it as it is: another's is left alone. Where an ACL forbids that its
/// place is given up, the lock tells which run ends.
void PlainWatch::check_locks(Server& server, const Server::Command& command) {
  std::string run = run_that_ends(*command.queued);
  for (const Words& words : *command.queued) {
    if (words[0] != "SET" && words[0] != "DEL") continue;
    const std::string was = text_at(server, words[1]);
    const bool rests = was.starts_with("rest:") || was.starts_with("quarantine:");
    const bool if_new = words.back() == "NX";
    const bool of_host = was.starts_with("run:" + command.who + ':');
    if (run.empty() && of_host && (words[0] == "DEL" || !is_run(words[2]))) run = run_of(was);
    // What Redis has lost and got back otherwise is nobody's by now.
    const bool ours = was.empty() || if_new || (!run.empty() ? was.ends_with(run) : rests);
    if (!ours)
      promises_.break_promise(
          "another's lock is left alone",
          command.who + " changes " + brief(words[1]) + ", which is " + was,
          {command.who, LockName::of(words[1]).list + ' ' + brief(LockName::of(words[1]).item)});
  }
  ending_ = run;
}

void PlainWatch::after(Server& server, const Server::Command& command, const Value& reply) {
  if (!is_host(command.who)) return;
  if (command.queued != nullptr) return after_exec(server, command, reply);
  const Words& words = command.words;
  if (words.empty()) return;
  if (words[0] == "SET" && words.size() == 6 && reply.kind == Value::Kind::status)
    after_set(server, command.who, words);
  if (words[0] == "ZADD" && words.size() == 4 && words[1].ends_with(":slots"))
    promises_.takes_place(words[3]);
  if (words[0] == "LMOVE") promises_.check_items(server, words[1], command.who);
}

/// A lock that was not there, or that of a run that has lost it.
void PlainWatch::after_set(Server& server, const std::string& who, const Words& words) {
  if (!is_run(words[2])) return;
  const std::string run = run_of(words[2]);
  if (promises_.runs_.contains(run)) return promises_.renewed(run, life_of(words), true);
  const LockName name = LockName::of(words[1]);
  promises_.claimed(server, {who, name.list, name.item, run, words[1], words[2], life_of(words),
                             limit_(who, name.list)});
}

void PlainWatch::after_exec(Server& server, const Server::Command& command, const Value& reply) {
  const auto& queued = *command.queued;
  for (std::size_t i = 0; i < queued.size() && i < reply.elements.size(); ++i) {
    const Words& words = queued[i];
    if (words[0] == "SET" && words.size() >= 5 && is_run(words[2])) {
      // An operator's run comes before its time.
      if (!promises_.runs_.contains(run_of(words[2])))
        promises_.rests_.erase(server.name() + ' ' + brief(words[1]));
      after_set(server, command.who, words);
    } else if (words[0] == "LSET" && reply.elements[i].kind == Value::Kind::status) {
      promises_.check_items(server, words[1], command.who);
    } else if (words[0] == "PEXPIRE" && reply.elements[i].number == 1) {
      const std::string value = text_at(server, words[1]);
      if (is_run(value))
        promises_.renewed(run_of(value), std::chrono::milliseconds(number(words[2])), false);
    }
  }
  if (!ending_.empty()) after_end(server, command, reply, ending_);
}

void PlainWatch::after_end(Server& server, const Server::Command& command, const Value& reply,
                           const std::string& id) {
  const auto found = promises_.runs_.find(id);
  if (found == promises_.runs_.end()) return;
  Promises::Run& run = found->second;
  promises_.log(server.name(), run.list + ' ' + run.item, "end of run " + id + " by EXEC");
  check_old(run, *command.queued, reply);
  promises_.check_items(server, run.list + ":list", command.who);
  promises_.ended(id);
}

void PlainWatch::check_old(const Promises::Run& run, const std::vector<Words>& queued,
                           const Value& reply) {
  const Promises::Run* last = promises_.last_claim_[Promises::lock_of(run)];
  if (last == nullptr || last->number <= run.number || run.lost_by_store) return;
  for (std::size_t i = 0; i < queued.size() && i < reply.elements.size(); ++i) {
    const Words& words = queued[i];
    const bool counts = words[1].ends_with(":failures") || words[1].ends_with(":quarantined");
    const bool nothing = words[0] == "HDEL" && reply.elements[i].number == 0;
    if (counts && !nothing)
      promises_.break_promise(
          "an old end changes nothing",
          "that of run " + run.id + " of " + run.host + " came after others had run the item",
          {run.list + ' ' + run.item, run.host});
  }
}

}  // namespace w8y::sim
