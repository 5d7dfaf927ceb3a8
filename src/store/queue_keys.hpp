// Keys of empty queues, of which Redis reports the next addition.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/circular/look_batcher.hpp"

namespace w8y::store {

class QueueKeys {
 public:
  /// `added` is called when a queue is no longer empty, never from inside a call.
  QueueKeys(LookBatcher& peeks, std::function<void()> added);
  ~QueueKeys();
  QueueKeys(const QueueKeys&) = delete;
  QueueKeys& operator=(const QueueKeys&) = delete;

  /// Peeks at the queues, if this makes Redis report the next change. Must be called after a claim
  /// that found them empty. Returns the cost in commands.
  [[nodiscard]] double track(const std::vector<std::string>& names);
  void forget();
  /// Must be called when this client may have changed the queues.
  void untrack();
  /// Returns whether each addition is reported.
  [[nodiscard]] bool tracked() const;

 private:
  class Key;
  LookBatcher& peeks_;
  const std::function<void()> added_;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace w8y::store
