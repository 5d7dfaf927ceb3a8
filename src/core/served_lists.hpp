// The lists of a host by prefix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/served_list.hpp"

namespace w8y {

/// Read-only map from prefix to list. Stored as a sorted array of pointers: each list has its
/// prefix in its config, and ten thousand lists are looked up far more often than added or removed.
class ServedLists {
 public:
  using Lists = std::vector<std::unique_ptr<ServedList>>;
  struct Entry {
    const std::string& first;
    const std::unique_ptr<ServedList>& second;
  };
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    struct pointer {
      Entry entry;
      const Entry* operator->() const { return &entry; }
    };
    using reference = Entry;

    Iterator() = default;
    explicit Iterator(Lists::const_iterator at) : at_(at) {}
    Entry operator*() const { return {(*at_)->config().prefix, *at_}; }
    pointer operator->() const { return {**this}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    Lists::const_iterator at_;
  };
  using const_iterator = Iterator;

  [[nodiscard]] Iterator begin() const { return Iterator(lists_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(lists_.end()); }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }
  [[nodiscard]] Iterator find(std::string_view prefix) const {
    const auto at = place_of(prefix);
    return Iterator(is_at(at, prefix) ? at : lists_.end());
  }
  [[nodiscard]] bool contains(std::string_view prefix) const {
    return is_at(place_of(prefix), prefix);
  }
  [[nodiscard]] const std::unique_ptr<ServedList>& at(std::string_view prefix) const {
    const auto at = place_of(prefix);
    if (!is_at(at, prefix)) throw std::out_of_range("no such list");
    return *at;
  }
  /// Returns the first list after `prefix`, whether or not a list has this prefix.
  [[nodiscard]] Iterator upper_bound(std::string_view prefix) const {
    const auto at = place_of(prefix);
    return Iterator(is_at(at, prefix) ? at + 1 : at);
  }

  /// Adds a list. No list may have its prefix. Costs least if it is added at the end.
  ServedList& add(std::unique_ptr<ServedList> list) {
    return **lists_.insert(place_of(list->config().prefix), std::move(list));
  }
  /// Removes and returns the lists for which `which` returns true. Calls `which` for each list, in
  /// order.
  template <typename Which>
  Lists extract_if(const Which& which) {
    Lists taken;
    auto end = lists_.begin();
    for (auto& list : lists_) std::swap(which(*list) ? taken.emplace_back() : *end++, list);
    lists_.erase(end, lists_.end());
    return taken;
  }

 private:
  [[nodiscard]] Lists::const_iterator place_of(std::string_view prefix) const {
    return std::lower_bound(
        lists_.begin(), lists_.end(), prefix,
        [](const auto& list, std::string_view name) { return list->config().prefix < name; });
  }
  [[nodiscard]] bool is_at(Lists::const_iterator at, std::string_view prefix) const {
    return at != lists_.end() && (*at)->config().prefix == prefix;
  }

  Lists lists_;  ///< by prefix
};

}  // namespace w8y
