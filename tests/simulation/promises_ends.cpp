// Promises: what the end of a run may change, and what is left when all have left.
#include <utility>

#include "simulation/promises.hpp"

namespace w8y::sim {

namespace {

std::string list_named(const std::string& key) {  // "work:list"
  return key.substr(0, key.rfind(":list"));
}

std::string text_in(Server& server, const std::string& key) {
  const auto* text = server.keys().find<std::string>(key);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

void Promises::ended(const std::string& id) {
  const auto run = runs_.find(id);
  if (run == runs_.end()) return;
  over(run->second);
  ++count_.settled;
}

void Promises::taken_away(const Server& server, const std::string& list, const std::string& item) {
  for (auto& [id, run] : runs_)
    if (run.server == server.name() && run.list == list && run.item == brief(item))
      run.lost_by_store = true;
}

void Promises::before_settle(Server& server, const Server::Command& command) {
  before_.clear();
  const auto kinds = static_cast<std::size_t>(number(command.arg[3]));
  std::size_t at = 4 + 8 * kinds;
  const std::string list = list_named(command.key[3]);
  for (std::size_t i = 5; i + 1 < command.key.size(); ++i, at += 4) {
    const auto found = runs_.find(command.arg[at + 1]);
    if (found == runs_.end()) continue;
    const Run& run = found->second;
    const Run* last = last_claim_[lock_of(run)];
    const std::string item = command.key[i].substr(command.arg[2].size());
    before_.push_back({run.id, item, list, command.key[i], text_in(server, command.key[i]),
                       failures_of(server.keys(), command.key[0], item),
                       has_field(server.keys(), command.key[4], item),
                       last != nullptr && last->number > run.number});
  }
}

void Promises::over(Run& run) {
  run.settled = true;
  std::string().swap(run.lock);
}

void Promises::after_settle(Server& server, const Server::Command& command) {
  for (const Before& was : before_) {
    Run& run = runs_[was.run];
    over(run);
    ++count_.settled;
    const std::string lock = text_in(server, was.lock);
    world_.log(server.name(), was.list + ' ' + brief(was.item),
               "end of run " + was.run + ": " + (was.lock_was.empty() ? "free" : was.lock_was) +
                   " becomes " + (lock.empty() ? "free" : lock));
    if (!was.old || run.lost_by_store) continue;
    const bool ours = was.lock_was == run.value;
    const bool changed = failures_of(server.keys(), command.key[0], was.item) != was.failures ||
                         has_field(server.keys(), command.key[4], was.item) != was.parked ||
                         (!ours && !was.lock_was.empty() && lock != was.lock_was);
    if (changed)
      break_promise(
          "an old end changes nothing",
          "that of run " + was.run + " of " + run.host + " came after others had run the item",
          {was.list + ' ' + brief(was.item), run.host});
  }
}

void Promises::nothing_left(Server& server, const std::vector<std::string>& lists, bool used) {
  for (const auto& [key, entry] : server.keys().all()) {
    const auto* text = std::get_if<std::string>(&entry.value);
    if (text == nullptr || !text->starts_with("run:") ||
        key.ends_with(":maintained"))  // who looks after a feed of jobs
      continue;
    break_promise("no lock outlives its holder", key + " is " + *text + " when all have left",
                  {*text});
  }
  for (const std::string& list : lists) check_items(server, list + ":list", "all hosts");
  if (!used) return;
  for (const auto& watch : watches_) watch->nothing_left(server);
}

}  // namespace w8y::sim
