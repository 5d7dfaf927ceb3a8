#include "store/queue_keys.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

class QueueKeys::Key final : public LookBatcher::Empty {
 public:
  Key(const QueueKeys& keys, std::string named) : name(std::move(named)), keys_(keys) {}

  const std::string name;
  using Tracking::Key::untrack;

 private:
  void add_key_of_list(std::string& to) const override { to += name; }
  void empty_looked(const LookReply& reply) override {
    if (!reply.worth_it) return;
    untrack();
    keys_.added_();
  }
  void on_key_changed() override { keys_.added_(); }

  const QueueKeys& keys_;
};

QueueKeys::QueueKeys(LookBatcher& peeks, std::function<void()> added)
    : peeks_(peeks), added_(std::move(added)) {}

QueueKeys::~QueueKeys() = default;

void QueueKeys::untrack() {
  for (const auto& key : keys_) key->untrack();
}

void QueueKeys::forget() {
  keys_.clear();
}

double QueueKeys::track(const std::vector<std::string>& names) {
  if (!std::ranges::equal(keys_, names, {}, [](const auto& key) { return key->name; })) {
    keys_.clear();
    for (const std::string& name : names) keys_.push_back(std::make_unique<Key>(*this, name));
  }
  double cost = 0;
  for (const auto& key : keys_) {
    if (key->is_tracked() || !peeks_.tracks(key->name)) continue;
    peeks_.if_empty(*key);
    cost = 1;  // the keys share a command
  }
  return cost;
}

bool QueueKeys::tracked() const {
  return !keys_.empty() &&
         std::ranges::all_of(keys_, [](const auto& key) { return key->is_tracked(); });
}

}  // namespace w8y::store
