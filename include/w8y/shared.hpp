// A value that many have in common.
#pragma once

#include <memory>

namespace w8y {

/// A copy costs a pointer; who changes his gets one of his own. Settings that most lists don't
/// give, or have from [defaults], are there once. Reading is safe from several threads, edit() is
/// for one who has it alone.
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
  /// Never changed, as it is held here too.
  static const std::shared_ptr<T>& initial() {
    static const std::shared_ptr<T> value = std::make_shared<T>();
    return value;
  }

  std::shared_ptr<T> value_;
};

}  // namespace w8y
