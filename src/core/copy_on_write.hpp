// A value that many objects share.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace w8y {

/// Shared value: a copy costs one pointer, and edit() copies the value first if it is shared. Lists
/// with equal settings thus share their memory. Several threads may read the value. A thread may
/// change an object only if no other thread uses that object.
template <class T>
class CopyOnWrite {
 public:
  CopyOnWrite() = default;
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, CopyOnWrite>)
      CopyOnWrite(U&& value) {
    set(std::forward<U>(value));
  }
  /// Constructs a container from its elements.
  template <class U = T>
  CopyOnWrite(std::initializer_list<typename U::value_type> elements) {
    set(T(elements));
  }
  CopyOnWrite(const CopyOnWrite& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->uses.fetch_add(1, std::memory_order_relaxed);
  }
  CopyOnWrite(CopyOnWrite&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  CopyOnWrite& operator=(CopyOnWrite other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  template <class U>
  requires(std::is_convertible_v<U, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, CopyOnWrite>) CopyOnWrite&
  operator=(U&& value) {
    set(std::forward<U>(value));
    return *this;
  }
  ~CopyOnWrite() {
    if (node_ != nullptr && node_->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  const T& operator*() const { return node_ == nullptr ? none() : node_->value; }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }
  T& edit() {
    if (node_ == nullptr || node_->uses.load(std::memory_order_acquire) != 1) *this = copy();
    return node_->value;
  }
  /// Shares the memory of `other` if both values are equal.
  void share(const CopyOnWrite& other) {
    if (node_ != other.node_ && *this == other) *this = other;
  }
  bool operator==(const CopyOnWrite& other) const {
    return node_ == other.node_ || **this == *other;
  }

 private:
  struct Node {
    explicit Node(T of) : value(std::move(of)) {}
    T value;
    std::atomic<std::size_t> uses{1};
  };

  void set(T value) {
    CopyOnWrite made;
    if (!(value == none())) made.node_ = new Node(std::move(value));
    std::swap(node_, made.node_);
  }
  static const T& none() {
    static const T value{};
    return value;
  }
  [[nodiscard]] CopyOnWrite copy() const {
    CopyOnWrite made;
    made.node_ = new Node(**this);
    return made;
  }

  Node* node_ = nullptr;  ///< nullptr = the default value
};

}  // namespace w8y
