#include "store/tracking.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

namespace {

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

}  // namespace

ServerTracking::ServerTracking(redis::Client& client, redis::Client& caller,
                               redis::Subscriber& subscriber, TimerQueue& timers,
                               const Clock& clock, bool alone)
    : redis::Client::Listener(client),
      client_(client),
      caller_(caller),
      subscriber_(subscriber),
      clock_(clock),
      alone_(alone),
      again_(timers),
      alive_(std::make_shared<bool>(true)) {
  subscriber_.request_id();
}

ServerTracking::~ServerTracking() {
  *alive_ = false;
  untrack_all();
}

// ---- The connections

void ServerTracking::on_up() {
  target_ = subscriber_.client_id();                 // 0 if its connection is down as well
  if (alone_ && confirmed_ != target_) target_ = 0;  // it may lack the permission for the channel
  switch_on();
}

void ServerTracking::on_down(const std::string&) {
  switch_off();
}

/// A new connection of the subscriber has another ID, and Redis sends nothing to the old ID.
void ServerTracking::follow_subscriber() {
  const std::int64_t id = subscriber_.client_id();
  if (id == target_) return;
  target_ = id;
  on_ = false;
  if (!alone_) untrack_all();
  switch_on();
  if (alone_) lose_all();  // owners of keys may peek now
}

/// Commands behind this one are executed after it, so peeks need not wait for its reply.
void ServerTracking::switch_on() {
  if (!client_.connected() || target_ == 0) return;
  on_ = true;
  ++times_on_;
  client_.call({"CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(target_), "OPTIN", "NOLOOP"},
               recorder());
}

/// Returns a callback that ends tracking if Redis refuses a command of this connection and target.
redis::Client::Callback ServerTracking::recorder() {
  return [this, alive = alive_, times = times_on_](const redis::Answer& answer) {
    if (*alive && times == times_on_) record(answer);
  };
}

void ServerTracking::record(const redis::Answer& answer) {
  if (answer.failure != redis::Failure::none || answer.ok() || !on_) return;
  on_ = false;
  untrack_peeked();
  again_.set(clock_.now() + refused_pause, [this] { switch_on(); });
}

void ServerTracking::switch_off() {
  on_ = false;
  untrack_all();
}

/// Forgets keys whose tracked peek is not confirmed. Redis still reports changes of tracked keys.
void ServerTracking::untrack_peeked() {
  std::erase_if(keys_, [](const Keys::value_type& each) {
    Key& key = *each.second;
    if (key.state_ == Key::State::tracked) return false;
    key.tracking_ = nullptr;
    key.state_ = Key::State::untracked;
    return true;
  });
}

void ServerTracking::untrack_all() {
  for (const auto& [hash, key] : std::exchange(keys_, {})) {
    key->tracking_ = nullptr;
    key->state_ = Key::State::untracked;
  }
}

// ---- Keys

void ServerTracking::add(Peek& peek, Key& key, std::string_view name) {
  key.untrack();
  key.hash_ = hash_of(name);
  key.tracking_ = this;
  key.state_ = Key::State::peeked;
  keys_.emplace(key.hash_, &key);
  peek.push_back(key.hash_);
}

void ServerTracking::call(Peek peek, const redis::Command& command,
                          redis::Client::Callback callback) {
  caller_.call_both({"CLIENT", "CACHING", "YES"}, recorder(), command,
                    [this, alive = alive_, peek = std::move(peek),
                     callback = std::move(callback)](const redis::Answer& answer) {
                      if (*alive && answer.ok()) confirm(peek);
                      if (callback) callback(answer);
                    });
}

void ServerTracking::confirm(const Peek& peek) {
  for (const std::uint32_t hash : peek) {
    const auto [begin, end] = keys_.equal_range(hash);
    for (auto each = begin; each != end; ++each) each->second->state_ = Key::State::tracked;
  }
}

/// An empty name stands for all keys (FLUSHALL). A callback may destroy other keys.
void ServerTracking::on_message(std::string_view, std::string_view name) {
  const auto [begin, end] =
      name.empty() ? std::pair(keys_.begin(), keys_.end()) : keys_.equal_range(hash_of(name));
  for (const auto& [hash, key] : std::vector<Keys::value_type>(begin, end)) {
    if (!contains(hash, key)) continue;
    key->untrack();
    name.empty() ? key->on_keys_flushed() : key->on_key_changed();
  }
}

bool ServerTracking::contains(std::uint32_t hash, const Key* key) const {
  const auto [begin, end] = keys_.equal_range(hash);
  return std::any_of(begin, end, [key](const auto& each) { return each.second == key; });
}

void ServerTracking::untrack(std::string_view name) {
  for (auto each = keys_.find(hash_of(name)); each != keys_.end(); each = keys_.find(hash_of(name)))
    each->second->untrack();
}

void ServerTracking::Key::untrack() {
  state_ = State::untracked;
  ServerTracking* const tracking = std::exchange(tracking_, nullptr);
  if (tracking == nullptr) return;
  const auto [begin, end] = tracking->keys_.equal_range(hash_);
  for (auto each = begin; each != end; ++each)
    if (each->second == this) {
      tracking->keys_.erase(each);
      return;
    }
}

// ---- All servers

Tracking::Server::Server(loop::Loop& loop, redis::Client& node, redis::Client& caller,
                         const redis::ClientOptions& options)
    : subscriber(loop, options),
      tracking(node, caller, subscriber, loop.timers(), loop.clock(), true) {}

Tracking::Tracking(loop::Loop& loop, redis::Client& client, redis::Subscriber& subscriber,
                   bool cluster)
    : loop_(loop), client_(client) {
  if (cluster) {
    client_.listen_to_nodes(this);
  } else {
    single_ = std::make_unique<ServerTracking>(client, client, subscriber, loop.timers(),
                                               loop.clock(), false);
  }
}

Tracking::~Tracking() {
  client_.listen_to_nodes(nullptr);
}

void Tracking::on_node(redis::Client& node, const redis::ClientOptions& options) {
  servers_[&node] = std::make_unique<Server>(loop_, node, client_, options);
}

/// An owner of a key may send a call, which adds a server.
void Tracking::on_slots_moved() {
  std::vector<redis::Client*> nodes;
  for (const auto& [node, server] : servers_) nodes.push_back(node);
  for (redis::Client* const node : nodes) servers_.at(node)->tracking.lose_all();
}

bool Tracking::on(std::string_view key) {
  ServerTracking* const server = server_of(key);
  return server != nullptr && server->on();
}

ServerTracking* Tracking::server_of(std::string_view key) {
  if (single_) return single_.get();
  const auto found = servers_.find(client_.node_of(key));
  return found != servers_.end() ? &found->second->tracking : nullptr;
}

void Tracking::untrack(std::string_view name) {
  if (ServerTracking* const server = server_of(name)) server->untrack(name);
}

void Tracking::Peek::add(const Peek& other) {
  server = other.server;
  keys.insert(keys.end(), other.keys.begin(), other.keys.end());
}

void Tracking::add(Peek& peek, Key& key, std::string_view name) {
  peek.server = server_of(name);
  if (peek.server != nullptr) peek.server->add(peek.keys, key, name);
}

/// A redirected peek is sent again without tracking. While a hash slot is migrated, Redis redirects
/// each command for a key that does not exist.
void Tracking::call(Peek peek, const redis::Command& command, redis::Client::Callback callback) {
  // The server may have left the cluster since add().
  ServerTracking* const server = server_of(command[1]);
  if (server == nullptr || server != peek.server) return client_.call(command, std::move(callback));
  if (single_) return server->call(std::move(peek.keys), command, std::move(callback));
  std::vector<std::string> sent(command.begin(), command.end());
  server->call(
      std::move(peek.keys), command,
      [&client = client_, sent = std::move(sent),
       callback = std::move(callback)](const redis::Answer& answer) {
        using redis::ErrorCode;
        const ErrorCode code = answer.error();
        if (code == ErrorCode::moved || code == ErrorCode::ask || code == ErrorCode::tryagain)
          return client.call(redis::Command(sent.begin(), sent.end()), callback);
        if (callback) callback(answer);
      });
}

}  // namespace w8y::store
