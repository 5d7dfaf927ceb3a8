#include "store/tracking.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

namespace {

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

}  // namespace

Tracking::Tracking(redis::Client& client, redis::Subscriber& subscriber, TimerQueue& timers,
                   const Clock& clock, bool cluster)
    : redis::Client::Listener(client),
      client_(client),
      subscriber_(subscriber),
      clock_(clock),
      cluster_(cluster),
      again_(timers),
      alive_(std::make_shared<bool>(true)) {
  if (cluster) return;
  subscriber_.request_id();
}

Tracking::~Tracking() {
  *alive_ = false;
  untrack_all();
}

// ---- The connections

void Tracking::on_up() {
  target_ = subscriber_.client_id();  // 0 if its connection is down as well
  switch_on();
}

void Tracking::on_down(const std::string&) {
  switch_off();
}

/// A new connection of the subscriber has another ID, and Redis sends nothing to the old ID.
void Tracking::follow_subscriber() {
  const std::int64_t id = subscriber_.client_id();
  if (cluster_ || id == target_) return;
  target_ = id;
  switch_off();
  switch_on();
}

/// Commands behind this one are executed after it, so peeks need not wait for its reply.
void Tracking::switch_on() {
  if (!client_.connected() || target_ == 0) return;
  on_ = true;
  ++times_on_;
  client_.call({"CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(target_), "OPTIN", "NOLOOP"},
               recorder());
}

/// Returns a callback that ends tracking if Redis refuses a command of this connection and target.
redis::Client::Callback Tracking::recorder() {
  return [this, alive = alive_, times = times_on_](const redis::Answer& answer) {
    if (*alive && times == times_on_) record(answer);
  };
}

void Tracking::record(const redis::Answer& answer) {
  if (answer.failure != redis::Failure::none || answer.ok() || !on_) return;
  on_ = false;
  untrack_peeked();
  again_.set(clock_.now() + refused_pause, [this] { switch_on(); });
}

void Tracking::switch_off() {
  on_ = false;
  untrack_all();
}

/// Forgets keys whose tracked peek is not confirmed. Redis still reports changes of tracked keys.
void Tracking::untrack_peeked() {
  std::erase_if(keys_, [](const Keys::value_type& each) {
    Key& key = *each.second;
    if (key.state_ == Key::State::tracked) return false;
    key.tracking_ = nullptr;
    key.state_ = Key::State::untracked;
    return true;
  });
}

void Tracking::untrack_all() {
  for (const auto& [hash, key] : std::exchange(keys_, {})) {
    key->tracking_ = nullptr;
    key->state_ = Key::State::untracked;
  }
}

// ---- Keys

void Tracking::add(Peek& peek, Key& key, std::string_view name) {
  key.untrack();
  key.hash_ = hash_of(name);
  key.tracking_ = this;
  key.state_ = Key::State::peeked;
  keys_.emplace(key.hash_, &key);
  peek.push_back(key.hash_);
}

void Tracking::call(Peek peek, const redis::Command& command, redis::Client::Callback callback) {
  client_.call({"CLIENT", "CACHING", "YES"}, recorder());
  client_.call(command, [this, alive = alive_, peek = std::move(peek),
                         callback = std::move(callback)](const redis::Answer& answer) {
    if (!*alive) return;
    if (answer.ok()) confirm(peek);
    if (callback) callback(answer);
  });
}

void Tracking::confirm(const Peek& peek) {
  for (const std::uint32_t hash : peek) {
    const auto [begin, end] = keys_.equal_range(hash);
    for (auto each = begin; each != end; ++each) each->second->state_ = Key::State::tracked;
  }
}

/// An empty name stands for all keys (FLUSHALL). A callback may destroy other keys.
void Tracking::on_message(std::string_view, std::string_view name) {
  const auto [begin, end] =
      name.empty() ? std::pair(keys_.begin(), keys_.end()) : keys_.equal_range(hash_of(name));
  for (const auto& [hash, key] : std::vector<Keys::value_type>(begin, end)) {
    if (!contains(hash, key)) continue;
    key->untrack();
    name.empty() ? key->on_keys_flushed() : key->on_key_changed();
  }
}

bool Tracking::contains(std::uint32_t hash, const Key* key) const {
  const auto [begin, end] = keys_.equal_range(hash);
  return std::any_of(begin, end, [key](const auto& each) { return each.second == key; });
}

void Tracking::untrack(std::string_view name) {
  for (auto each = keys_.find(hash_of(name)); each != keys_.end(); each = keys_.find(hash_of(name)))
    each->second->untrack();
}

void Tracking::Key::untrack() {
  state_ = State::untracked;
  Tracking* const tracking = std::exchange(tracking_, nullptr);
  if (tracking == nullptr) return;
  const auto [begin, end] = tracking->keys_.equal_range(hash_);
  for (auto each = begin; each != end; ++each)
    if (each->second == this) {
      tracking->keys_.erase(each);
      return;
    }
}

}  // namespace w8y::store
