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

// ---- EventCoalescer

void EventCoalescer::add(const std::string& key, const std::string& list, Tell tell) {
  const Instant now = clock_.now();
  const auto [entry, first] = waiting_.try_emplace(key);
  Waiting& waiting = entry->second;
  if (first) {
    waiting.report = std::move(tell);
    waiting.until = now + longest;
    waiting.timer = std::make_unique<Timer>(timers_);
  }
  ++waiting.group.count;
  waiting.group.lists.insert(list);
  waiting.timer->set(std::min(now + quiet, waiting.until), [this, key] { flush(key); });
}

void EventCoalescer::flush(const std::string& key) {
  const auto entry = waiting_.extract(key);
  if (!entry.empty()) entry.mapped().report(entry.mapped().group);
}

void EventCoalescer::flush() {
  while (!waiting_.empty()) flush(std::string(waiting_.begin()->first));
}

// ---- ProblemTracker

ProblemTracker::ProblemTracker(EventCoalescer& gathered, std::string kind, Begun started,
                               Ended ended)
    : gathered_(gathered),
      kind_(std::move(kind)),
      started_(std::move(started)),
      ended_(std::move(ended)) {}

void ProblemTracker::begin(const void* who, const std::string& list, const std::string& reason) {
  if (!reasons_.try_emplace(who, reason).second) return;
  Trouble& error = problems_[reason];
  error.in.insert(who);
  error.ended.group.lists.insert(list);
  if (error.reported) return;
  gathered_.add(kind_ + ' ' + reason, list, [this, reason](const Group& group) {
    const auto found = problems_.find(reason);
    if (found == problems_.end()) return;
    found->second.reported = true;
    started_(reason, group);
  });
}

void ProblemTracker::end(const void* who, std::size_t attempts, Duration lasted) {
  const auto entry = reasons_.extract(who);
  if (entry.empty()) return;
  const std::string& reason = entry.mapped();
  Trouble& error = problems_.at(reason);
  error.in.erase(who);
  error.ended.attempts += attempts;
  error.ended.lasted = std::max(error.ended.lasted, lasted);
  if (!error.in.empty()) return;
  gathered_.flush(kind_ + ' ' + reason);
  ended_(reason, error.ended);
  problems_.erase(reason);
}

void ProblemTracker::forget(const void* who) {
  const auto entry = reasons_.extract(who);
  if (entry.empty()) return;
  const auto error = problems_.find(entry.mapped());
  error->second.in.erase(who);
  if (error->second.in.empty()) problems_.erase(error);
}

}  // namespace w8y
