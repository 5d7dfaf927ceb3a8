// A value that many have in common.
#pragma once

#include <memory>

namespace w8y {

/// A copy costs a pointer; edit() copies the value first. So settings that lists have in common, by
/// default or from [defaults], are in memory once. Several threads may read it. Only a thread that
/// has the object to itself may call edit().
template <class T>
class Shared {
 public:
  Shared() : value_(initial()) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T& edit() {
    if (value_.use_count() != 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }
  bool operator==(const Shared& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

 private:
  /// Never changed: it is held here too, so edit() copies it.
  static const std::shared_ptr<T>& initial() {
    static const std::shared_ptr<T> value = std::make_shared<T>();
    return value;
  }

  std::shared_ptr<T> value_;
};

}  // namespace w8y
