#include "redis/topics.hpp"

#include <utility>

namespace w8y::redis {

namespace {

constexpr std::array kinds = {TopicKind::channel, TopicKind::pattern};

}  // namespace

TopicEntries Topics::Topic::entries() const {
  TopicEntries all;
  if (first) all.push_back(first);
  all.insert(all.end(), others->begin(), others->end());
  return all;
}

void Topics::Topic::add(const std::shared_ptr<TopicEntry>& entry) {
  first ? others.edit().push_back(entry) : void(first = entry);
}

void Topics::Topic::remove(const std::shared_ptr<TopicEntry>& entry) {
  if (first != entry) {
    std::erase(others.edit(), entry);
  } else {
    first = others->empty() ? nullptr : others->front();
    if (first) others.edit().erase(others.edit().begin());
  }
  if (others->empty()) others.reset();
}

bool Topics::add(const std::shared_ptr<TopicEntry>& entry) {
  ByName& topics = of(entry->kind);
  auto found = topics.find(entry->name);
  if (found == topics.end()) found = topics.emplace(entry->name, Topic()).first;
  entry->name = found->first;
  Topic& topic = found->second;
  topic.add(entry);
  mark(entry->kind, entry->name, topic);
  return topic.confirmed;
}

void Topics::remove(const std::shared_ptr<TopicEntry>& entry) {
  ByName& topics = of(entry->kind);
  const auto found = topics.find(entry->name);
  if (found == topics.end()) return;
  found->second.remove(entry);
  if (connected_) {
    mark(entry->kind, entry->name, found->second);
  } else if (!found->second.wanted()) {
    topics.erase(found);
  }
}

/// A new connection looks at every topic, so there is nothing to note before it.
void Topics::mark(TopicKind kind, std::string_view name, Topic& topic) {
  if (!connected_ || topic.dirty) return;
  if (topic.wanted() == topic.asked) return;
  topic.dirty = true;
  dirty_[static_cast<std::size_t>(kind)].emplace_back(name);
}

void Topics::connected() {
  connected_ = true;
  for (const TopicKind kind : kinds) {
    dirty_[static_cast<std::size_t>(kind)].clear();
    std::erase_if(of(kind), [](const auto& each) { return !each.second.wanted(); });
    for (auto& [name, topic] : of(kind)) {
      topic.dirty = topic.asked = topic.confirmed = false;
      topic.unconfirmed = 0;
      mark(kind, name, topic);
    }
  }
}

void Topics::disconnected() {
  connected_ = false;
  for (ByName& topics : topics_)
    for (auto& each : topics) each.second.confirmed = false;
}

std::vector<Topics::Command> Topics::commands() {
  std::vector<Command> commands;
  if (!connected_) return commands;
  for (const TopicKind kind : kinds) commands_of(kind, commands);
  return commands;
}

void Topics::commands_of(TopicKind kind, std::vector<Command>& commands) {
  Command wanted{true, kind, {}};
  Command unwanted{false, kind, {}};
  ByName& topics = of(kind);
  for (std::string& name : std::exchange(dirty_[static_cast<std::size_t>(kind)], {})) {
    const auto found = topics.find(name);
    if (found == topics.end()) continue;
    Topic& topic = found->second;
    topic.dirty = false;
    const bool want = topic.wanted();
    if (want == topic.asked) {
      if (!want && topic.unconfirmed == 0) topics.erase(found);
      continue;
    }
    topic.asked = want;
    topic.confirmed = false;
    if (want) ++topic.unconfirmed;
    (want ? wanted : unwanted).names.push_back(std::move(name));
  }
  if (!unwanted.names.empty()) commands.push_back(std::move(unwanted));
  if (!wanted.names.empty()) commands.push_back(std::move(wanted));
}

TopicEntries Topics::confirmed(bool subscribe, TopicKind kind, std::string_view name) {
  ByName& topics = of(kind);
  const auto found = topics.find(name);
  if (found == topics.end()) return {};
  Topic& topic = found->second;
  if (subscribe && topic.unconfirmed > 0) --topic.unconfirmed;
  if (topic.unconfirmed > 0) return {};
  if (!topic.asked) {
    if (!topic.wanted()) topics.erase(found);
    return {};
  }
  if (std::exchange(topic.confirmed, true)) return {};
  return topic.entries();
}

void Topics::refused(TopicKind kind, std::string_view name) {
  const auto found = of(kind).find(name);
  if (found != of(kind).end() && found->second.unconfirmed > 0) --found->second.unconfirmed;
}

TopicEntries Topics::entries(TopicKind kind, std::string_view name) const {
  const auto found = of(kind).find(name);
  return found == of(kind).end() ? TopicEntries() : found->second.entries();
}

bool Topics::is_confirmed(const TopicEntry& entry) const {
  const auto found = of(entry.kind).find(entry.name);
  return found != of(entry.kind).end() && found->second.confirmed;
}

void Topics::each(const std::function<void(TopicEntry&)>& visit) const {
  for (const ByName& topics : topics_)
    for (const auto& [name, topic] : topics)
      for (const auto& entry : topic.entries()) visit(*entry);
}

}  // namespace w8y::redis
