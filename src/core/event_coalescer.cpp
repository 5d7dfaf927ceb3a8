#include "core/event_coalescer.hpp"

#include <algorithm>
#include <utility>

namespace w8y {

std::string Group::names() const {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t named = 0;
  for (const std::string& list : lists) {
    if (named == most) break;
    if (named++ > 0) text += ", ";
    text += list;
  }
  if (lists.size() > named) text += " and " + std::to_string(lists.size() - named) + " more";
  return text;
}

// ---- Gathered

void Gathered::add(const std::string& key, const std::string& list, Tell tell) {
  const Instant now = clock_.now();
  const auto [entry, first] = waiting_.try_emplace(key);
  Waiting& waiting = entry->second;
  if (first) {
    waiting.tell = std::move(tell);
    waiting.until = now + longest;
    waiting.timer = std::make_unique<Timer>(timers_);
  }
  ++waiting.group.count;
  waiting.group.lists.insert(list);
  waiting.timer->set(std::min(now + quiet, waiting.until), [this, key] { flush(key); });
}

void Gathered::flush(const std::string& key) {
  const auto entry = waiting_.extract(key);
  if (!entry.empty()) entry.mapped().tell(entry.mapped().group);
}

void Gathered::flush() {
  while (!waiting_.empty()) flush(std::string(waiting_.begin()->first));
}

// ---- Troubles

Troubles::Troubles(Gathered& gathered, std::string kind, Begun begun, Ended ended)
    : gathered_(gathered),
      kind_(std::move(kind)),
      begun_(std::move(begun)),
      ended_(std::move(ended)) {}

void Troubles::begin(const void* who, const std::string& list, const std::string& reason) {
  if (!reasons_.try_emplace(who, reason).second) return;
  Trouble& trouble = troubles_[reason];
  trouble.in.insert(who);
  trouble.over.group.lists.insert(list);
  if (trouble.told) return;
  gathered_.add(kind_ + ' ' + reason, list, [this, reason](const Group& group) {
    const auto found = troubles_.find(reason);
    if (found == troubles_.end()) return;
    found->second.told = true;
    begun_(reason, group);
  });
}

void Troubles::end(const void* who, std::size_t attempts, Duration lasted) {
  const auto entry = reasons_.extract(who);
  if (entry.empty()) return;
  const std::string& reason = entry.mapped();
  Trouble& trouble = troubles_.at(reason);
  trouble.in.erase(who);
  trouble.over.attempts += attempts;
  trouble.over.lasted = std::max(trouble.over.lasted, lasted);
  if (!trouble.in.empty()) return;
  gathered_.flush(kind_ + ' ' + reason);
  ended_(reason, trouble.over);
  troubles_.erase(reason);
}

void Troubles::forget(const void* who) {
  const auto entry = reasons_.extract(who);
  if (entry.empty()) return;
  const auto trouble = troubles_.find(entry.mapped());
  trouble->second.in.erase(who);
  if (trouble->second.in.empty()) troubles_.erase(trouble);
}

}  // namespace w8y
