// Invariants of settlements, and of the keys that are left when all hosts have left.
#include <algorithm>
#include <utility>

#include "simulation/invariants.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

namespace scripts_of = store::scripts;

std::string text_in(Keys& keys, const std::string& key) {
  const auto* text = keys.find<std::string>(key);
  return text == nullptr ? std::string() : *text;
}

std::string field_of(const Hash& hash, const std::string& field) {
  const auto found = hash.find(field);
  return found == hash.end() ? std::string() : found->second;
}

/// Arguments of settle.lua: before the kinds, per kind, and per settlement.
constexpr std::size_t before_kinds = 5, of_kind = 11, of_end = 4;
/// Among the arguments of a kind.
constexpr std::size_t failures_of_kind = 4, stale_of_kind = 6;
/// Number of keys before the locks.
constexpr std::size_t first_lock = 4;

std::size_t first_end(const Words& arg) {
  return before_kinds + of_kind * static_cast<std::size_t>(number(arg[3]));
}

}  // namespace

/// Called after a change by an operator. Released and added items may run at once. Items that were
/// neither added nor removed stay in the list.
void Invariants::after_operator(Server& server, const Server::Command& command) {
  const bool reads =
      command.script == &scripts_of::items_page || command.script == &scripts_of::list_stats;
  if (command.script == nullptr || reads || command.key.empty() ||
      !command.key[0].ends_with(":list"))
    return;
  const std::string list = list_of(command.key[0]);
  operator_frees(list);
  if (command.script == &scripts_of::remove) after_removal(server);
  if (command.script == &scripts_of::add || command.script == &scripts_of::remove)
    return user_changes(server, list);
  check_items(server, command.key[0], command.who);
}

/// Records the mark of a running item.
void Invariants::after_rerun(Server& server, const Server::Command& command, const Value& reply) {
  for (std::size_t i = 3; i < command.key.size(); ++i) {
    const std::string value = text_in(server.keys(), command.key[i]);
    if (reply.number == 1 && !value.empty())
      break_promise("a rerun frees a delayed item", command.key[i] + " is " + value, {command.who});
    if (reply.number == 3 && value.starts_with("run:"))
      marks_[server.name() + ' ' + command.key[i]] = value;
  }
}

/// Checks that the mark of an item names its claim, so that the settlement of this run deletes it.
void Invariants::check_marks(Server& server, const Server::Command& claim, const std::string& item,
                             const std::string& value) {
  if (server.forbidden() == "HSET") return;  // the item may run once more
  const Hash* marks = server.keys().find<Hash>(list_of(claim.key[0]) + ":reruns");
  const std::string mark = marks == nullptr ? std::string() : field_of(*marks, item);
  if (!has_field(server.keys(), list_of(claim.key[0]) + ":reruns", item) ||
      mark == "claimed:" + value)
    return;
  break_promise("one mark gives at most one more run",
                "the mark of " + brief(item) + " stays after a claim of " + claim.who,
                {list_of(claim.key[0]) + ' ' + brief(item), claim.who});
}

void Invariants::ended(const std::string& id) {
  const auto run = runs_.find(id);
  if (run == runs_.end()) return;
  finish(run->second);
  ++count_.settled;
}

void Invariants::on_claimed_elsewhere(const Server& server, const std::string& list,
                                      const std::string& item) {
  for (auto& [id, run] : runs_)
    if (run.server == server.name() && run.list == list && run.item == brief(item))
      run.lost_by_store = true;
}

Invariants::ItemState Invariants::state_of(Keys& keys, const Server::Command& command,
                                           const std::string& lock, const std::string& item) {
  return {text_in(keys, lock), failures_of(keys, command.key[0], item),
          has_field(keys, command.key[3], item)};
}

void Invariants::before_settle(Server& server, const Server::Command& command) {
  before_.clear();
  std::size_t at = first_end(command.arg);
  const std::string list = list_of(list_key_of_settle(command.key));
  for (std::size_t i = first_lock; i + 1 < command.key.size(); ++i, at += of_end) {
    const auto found = runs_.find(command.arg[at + 1]);
    if (found == runs_.end()) continue;
    const Run& run = found->second;
    const Run* last = last_claim_[lock_of(run)];
    const std::string item = command.key[i].substr(command.arg[2].size());
    const ItemState state = state_of(server.keys(), command, command.key[i], item);
    const auto* kind = &command.arg[before_kinds + of_kind * (number(command.arg[at]) - 1)];
    before_.push_back(
        {run.id, item, list, command.key[i], last != nullptr && last->number > run.number,
         kind[failures_of_kind] == "increment" && kind[stale_of_kind] != "1", state, state});
  }
  const bool both = std::any_of(before_.begin(), before_.end(), [&](const Before& old) {
    return old.old && std::any_of(before_.begin(), before_.end(), [&](const Before& other) {
             return !other.old && other.lock == old.lock;
           });
  });
  if (both) without_old_ends(server, command);
}

/// Computes the result of a settlement call without its outdated settlements, on a copy of the
/// keys. Needed if a call settles an old run and the last run of an item.
void Invariants::without_old_ends(Server& server, const Server::Command& command) {
  Words key = command.key, arg = command.arg;
  std::size_t i = first_lock, at = first_end(arg);
  while (i + 1 < key.size()) {
    const bool old = std::any_of(before_.begin(), before_.end(), [&](const Before& each) {
      return each.old && each.run == arg[at + 1];
    });
    if (old) {
      key.erase(key.begin() + static_cast<std::ptrdiff_t>(i));
      const auto first = arg.begin() + static_cast<std::ptrdiff_t>(at);
      arg.erase(first, first + of_end);
    } else {
      ++i;
      at += of_end;
    }
  }
  Keys keys = server.keys();
  keys.listener = nullptr;
  std::vector<Published> published;
  run_lua(scripts_of::settle, {keys, key, arg, published},
          [](const CommandInfo&, bool) { return std::string(); });
  for (Before& each : before_) each.due = state_of(keys, command, each.lock, each.item);
}

void Invariants::finish(Run& run) {
  run.settled = true;
  std::string().swap(run.lock);
}

/// Checks that no run of an outage keeps its item quarantined. Returns whether this call has opened
/// or closed the breaker, which changes other items as well.
bool Invariants::after_breaker(Server& server, const std::string& list) {
  const Hash* breaker = server.keys().find<Hash>(list + ":breaker");
  const auto since = breaker == nullptr ? std::string() : field_of(*breaker, "since");
  const bool changed = std::exchange(open_[server.name() + ' ' + list], since) != since;
  // A quarantine ends by HDEL. The settlement reports that it is refused.
  if (!changed || since.empty() || server.forbidden() == "HDEL") return changed;
  const Hash* quarantined = server.keys().find<Hash>(list + ":quarantined");
  if (quarantined == nullptr) return changed;
  const std::string window = field_of(*breaker, "window");
  constexpr std::size_t entry = 27;
  for (std::size_t at = 0; at + entry <= window.size(); at += entry) {
    const std::string run = window.substr(at, entry - 1);
    for (const auto& [item, note] : *quarantined)
      if (window[at + entry - 1] == '-' &&
          note.find("\"run\":\"" + run + '"') != std::string::npos &&
          note.find("consecutive failures") != std::string::npos)
        break_promise("an outage quarantines no item",
                      brief(item) + " of " + list + " is quarantined by run " + run,
                      {list + ' ' + brief(item)});
  }
  return changed;
}

/// Checks the state of an item after a settlement of the run that held it.
void Invariants::check_settled(Server& server, const Server::Command& command, const Before& before,
                               const ItemState& now) {
  const Run& run = runs_[before.run];
  const auto broken = [&](const char* promise, const std::string& why) {
    break_promise(promise, "the settlement of run " + before.run + why,
                  {before.list + ' ' + brief(before.item), run.host});
  };
  const auto* places = server.keys().find<SortedSet>(command.key[1]);
  if (places != nullptr && places->score(before.run))
    broken("a settlement releases the fleet slot of its run", " keeps its slot");
  if (before.was.lock != run.value) return;
  if (now.lock == run.value)
    broken("a settlement ends the lock of its run", " leaves the lock " + now.lock);
  if (before.was.quarantined && !now.lock.starts_with("quarantine:"))
    broken("an operator's quarantine of a running item applies", " leaves the lock " + now.lock);
  if (before.failed && command.arg[4].empty() && now.failures <= before.was.failures)
    broken("a failed run counts", " counts no failure");
}

void Invariants::after_settle(Server& server, const Server::Command& command, const Value& reply) {
  const bool of_breaker = after_breaker(server, list_of(list_key_of_settle(command.key)));
  for (const Before& each : before_) {
    Run& run = runs_[each.run];
    finish(run);
    ++count_.settled;
    const ItemState now = state_of(server.keys(), command, each.lock, each.item);
    world_.log(server.name(), each.list + ' ' + brief(each.item),
               "end of run " + each.run + ": " + (each.was.lock.empty() ? "free" : each.was.lock) +
                   " becomes " + (now.lock.empty() ? "free" : now.lock));
    const bool written = reply.kind == Value::Kind::array && reply.elements[1].text.empty();
    if (written && server.forbidden().empty() && !of_breaker)
      check_settled(server, command, each, now);
    if (now.lock.empty() && each.was.lock == run.value)
      set_free_[server.name() + ' ' + each.lock] = world_.now();
    if (each.was.lock == run.value && is_marked(server, each.lock, run)) {
      marks_.erase(server.name() + ' ' + each.lock);
      if (now.lock.starts_with("delay:"))
        break_promise("no mark of a rerun is lost",
                      "the settlement of run " + each.run + " leaves the lock " + now.lock,
                      {each.list + ' ' + brief(each.item), run.host});
    }
    if (!each.old || run.lost_by_store || of_breaker) continue;
    const bool held = !each.was.lock.empty() && each.was.lock != run.value;
    const auto differs = [&](auto ItemState::*part) {
      return now.*part != each.was.*part && now.*part != each.due.*part;
    };
    const bool changed = differs(&ItemState::failures) || differs(&ItemState::quarantined) ||
                         (held && differs(&ItemState::lock));
    if (changed)
      break_promise("an outdated settlement changes nothing",
                    "the settlement of run " + each.run + " of " + run.host +
                        " came after others had run the item",
                    {each.list + ' ' + brief(each.item), run.host});
  }
}

void Invariants::nothing_left(Server& server, const std::vector<std::string>& lists, bool used) {
  for (const auto& [key, entry] : server.keys().all()) {
    const auto* text = std::get_if<std::string>(&entry->value);
    if (text == nullptr || !text->starts_with("run:") ||
        key.ends_with(":maintained"))  // host that maintains a feed of jobs
      continue;
    break_promise("no lock outlives its holder", key + " is " + *text + " when all hosts have left",
                  {*text});
  }
  for (const std::string& list : lists) check_items(server, list + ":list", "all hosts");
  if (!used) return;
  for (const auto& watch : watches_) watch->nothing_left(server);
}

}  // namespace w8y::sim
