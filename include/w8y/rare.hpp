// A value that most of many objects do without.
#pragma once

#include <memory>
#include <utility>

namespace w8y {

/// One pointer as long as the value is the default one: of ten thousand lists at rest, few have a
/// reason to tell, or a poller that is on its way out.
template <class T>
class Rare {
 public:
  const T& operator*() const { return value_ ? *value_ : none(); }
  const T* operator->() const { return &**this; }
  /// The value is kept from then on, until reset().
  T& edit() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  void set(T value) {
    if (value == none()) {
      value_.reset();
    } else {
      edit() = std::move(value);
    }
  }
  void reset() { value_.reset(); }

 private:
  static const T& none() {
    static const T value{};
    return value;
  }

  std::unique_ptr<T> value_;
};

}  // namespace w8y
