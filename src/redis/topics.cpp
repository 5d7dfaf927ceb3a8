#include "redis/topics.hpp"

#include <utility>

namespace w8y::redis {

bool Topics::add(const std::shared_ptr<TopicEntry>& entry) {
  const auto found = topics_.try_emplace(std::string(entry->name)).first;
  entry->name = found->first;
  Topic& topic = found->second;
  topic.entries.push_back(entry);
  mark(entry->name, topic);
  return topic.confirmed;
}

void Topics::remove(const std::shared_ptr<TopicEntry>& entry) {
  const auto found = topics_.find(entry->name);
  if (found == topics_.end()) return;
  std::erase(found->second.entries, entry);
  if (connected_) {
    mark(entry->name, found->second);
  } else if (!found->second.wanted()) {
    erase(found);
  }
}

void Topics::erase(ByName::iterator topic) {
  refused_.erase(topic->first);
  topics_.erase(topic);
}

/// Records a topic that may need a command. A new connection checks every topic, so nothing is
/// recorded before it.
void Topics::mark(std::string_view name, Topic& topic) {
  if (!connected_ || topic.dirty) return;
  if (topic.wanted() == topic.requested) return;
  topic.dirty = true;
  dirty_.emplace_back(name);
}

void Topics::connected() {
  connected_ = true;
  dirty_.clear();
  refused_.clear();
  std::erase_if(topics_, [](const auto& each) { return !each.second.wanted(); });
  for (auto& [name, topic] : topics_) {
    topic.dirty = topic.requested = topic.confirmed = topic.retried = false;
    topic.unconfirmed = 0;
    mark(name, topic);
  }
}

void Topics::disconnected() {
  connected_ = false;
  for (auto& each : topics_) each.second.confirmed = false;
}

std::vector<Topics::Command> Topics::commands() {
  std::vector<Command> commands;
  if (!connected_) return commands;
  Command wanted{true, {}};
  Command unwanted{false, {}};
  for (std::string& name : std::exchange(dirty_, {})) {
    const auto found = topics_.find(name);
    if (found == topics_.end()) continue;
    Topic& topic = found->second;
    topic.dirty = false;
    const bool want = topic.wanted();
    if (want == topic.requested) {
      if (!want && topic.unconfirmed == 0) erase(found);
      continue;
    }
    topic.requested = want;
    topic.confirmed = false;
    if (want) ++topic.unconfirmed;
    (want ? wanted : unwanted).names.push_back(std::move(name));
  }
  if (!unwanted.names.empty()) commands.push_back(std::move(unwanted));
  if (!wanted.names.empty()) commands.push_back(std::move(wanted));
  return commands;
}

TopicEntries Topics::confirmed(bool subscribe, std::string_view name) {
  const auto found = topics_.find(name);
  if (found == topics_.end()) return {};
  Topic& topic = found->second;
  if (subscribe && topic.unconfirmed > 0) --topic.unconfirmed;
  if (topic.unconfirmed > 0) return {};
  if (!topic.requested) {
    if (!topic.wanted()) erase(found);
    return {};
  }
  if (std::exchange(topic.confirmed, true)) return {};
  if (std::exchange(topic.retried, false))
    for (const std::string& each : std::exchange(refused_, {})) resubscribe(each);
  return topic.entries;
}

void Topics::refused(std::string_view name) {
  const auto found = topics_.find(name);
  if (found == topics_.end()) return;
  if (found->second.unconfirmed > 0) --found->second.unconfirmed;
  refused_.emplace(name);
}

bool Topics::retry_refused() {
  if (refused_.empty()) return false;
  auto next = refused_.upper_bound(last_retried_);
  if (next == refused_.end()) next = refused_.begin();
  last_retried_ = *next;
  refused_.erase(next);
  resubscribe(last_retried_);
  return true;
}

void Topics::resubscribe(const std::string& name) {
  const auto found = topics_.find(name);
  if (found == topics_.end()) return;
  found->second.requested = false;
  found->second.retried = true;
  mark(name, found->second);
}

TopicEntries Topics::entries(std::string_view name) const {
  const auto found = topics_.find(name);
  return found == topics_.end() ? TopicEntries() : found->second.entries;
}

bool Topics::is_confirmed(const TopicEntry& entry) const {
  const auto found = topics_.find(entry.name);
  return found != topics_.end() && found->second.confirmed;
}

void Topics::each(const std::function<void(TopicEntry&)>& visit) const {
  for (const auto& [name, topic] : topics_)
    for (const auto& entry : topic.entries) visit(*entry);
}

}  // namespace w8y::redis
