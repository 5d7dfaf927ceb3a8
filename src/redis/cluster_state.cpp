// State of the cluster in a ClusterClient, and its errors.
#include <algorithm>
#include <utility>

#include "redis/cluster_client.hpp"

namespace w8y::redis {

void ClusterClient::refreshed(const std::string& problem) {
  if (!view_.known()) {
    fresh_ = false;
    const std::string why = options_.url.to_string() + ": " + problem;
    for (const Call& call : std::exchange(early_, {})) refuse(call, why);
    notify_down(why);
    return view_.refresh();
  }
  if (std::exchange(fresh_, false) || used_slots_.empty())
    if (const auto served = view_.map().any_served()) last_slot_ = *served;
  for (Call& call : std::exchange(early_, {})) {
    if (call->anywhere) call->slot = last_slot_;
    submit(std::move(call));
  }
  compare_slots();
  sweep_nodes();
  for (const auto& [place, node] : nodes_) node->look_again();
  assess();
}

/// Returns the primary of a hash slot; port 0: none serves it.
HostPort ClusterClient::server_of(Slot slot) const {
  const HostPort* primary = view_.map().primary(slot);
  return primary != nullptr ? *primary : HostPort{{}, 0};
}

/// Calls the listener if a hash slot in use has moved. It may send calls.
void ClusterClient::compare_slots() {
  std::vector<HostPort> servers;
  for (const Slot slot : used_slots_) servers.push_back(server_of(slot));
  const bool moved = std::exchange(servers_, servers) != servers;
  if (moved && node_listener_ != nullptr) node_listener_->on_slots_moved();
}

/// Removes nodes without calls that serve no hash slot in use.
void ClusterClient::sweep_nodes() {
  std::vector<HostPort> needed;
  for (const Slot slot : used_slots_)
    if (const HostPort* primary = view_.map().primary(slot)) needed.push_back(*primary);
  if (const HostPort* any = view_.map().primary(last_slot_)) needed.push_back(*any);
  for (const HostPort& place : needed) node_at(place);
  std::erase_if(nodes_, [&](const auto& each) {
    const bool idle = each.second->unanswered == 0;
    const bool gone = idle && std::ranges::find(needed, each.first) == needed.end();
    if (gone) retired_sent_ += each.second->client.commands_sent();
    if (gone && node_listener_ != nullptr) node_listener_->on_node_removed(each.second->client);
    return gone;
  });
}

/// Returns the first error. Empty if all hash slots in use are served, apart from nodes that are
/// connecting.
std::string ClusterClient::find_error(bool& connecting) {
  std::vector<Slot> slots = used_slots_;
  slots.push_back(last_slot_);
  for (const Slot slot : slots) {
    const HostPort* primary = view_.map().primary(slot);
    if (primary == nullptr)
      return options_.url.to_string() + ": no node serves hash slot " + std::to_string(slot);
    const ClusterNode& node = node_at(*primary);
    if (!node.error().empty()) return node.error();
    if (!node.ready()) connecting = true;
  }
  return {};
}

void ClusterClient::assess() {
  if (!view_.known()) return;
  bool connecting = false;
  const std::string error = find_error(connecting);
  if (!error.empty()) {
    notify_down(error);
    view_.refresh();
  } else if (!connecting && !up_) {
    up_ = true;
    error_.clear();
    listeners_.for_each([](Client::Listener& listener) { Client::notify_up(listener); });
  }
  if (up_) check_refusals();
}

void ClusterClient::check_refusals() {
  const auto found = std::ranges::find_if(
      nodes_, [](const auto& each) { return !each.second->refusing().empty(); });
  const bool refusing = found != nodes_.end();
  if (std::exchange(refusing_, refusing) == refusing) return;
  listeners_.for_each([&](Client::Listener& listener) {
    if (refusing) {
      Client::notify_refusing(listener, found->second->refusing());
    } else {
      Client::notify_accepting(listener);
    }
  });
}

void ClusterClient::notify_down(const std::string& why) {
  up_ = refusing_ = false;
  if (std::exchange(error_, why) == why) return;
  listeners_.for_each([&](Client::Listener& listener) { Client::notify_down(listener, why); });
}

}  // namespace w8y::redis
