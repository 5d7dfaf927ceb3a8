// Rows that many clients see: each as text, made once for all of them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace w8y::page {

/// Rows by name, in the order in which they came. Only what has changed is told.
class LiveRows {
 public:
  /// What is added to a row's members when it is told: empty, or begins with ','.
  using Addition = std::function<std::string(const std::string& name)>;

  /// `object` is a JSON object. The same as before changes nothing.
  void note(const std::string& name, std::string object);
  void forget(const std::string& name);
  /// A look at all of them begins, and is over: those that were not noted are gone.
  void start_look() { ++look_; }
  void end_look();

  [[nodiscard]] bool changed() const { return !changed_.empty(); }
  /// `"lists":[…],"removed":[…]` of what has changed, some `most` bytes at a time; empty: nothing
  /// has.
  std::string take_changes(std::size_t most, const Addition& add);
  /// Objects from the `at`-th row on, separated by ',', some `most` bytes; moves `at`, which is
  /// size() at the end.
  [[nodiscard]] std::string part(std::size_t& at, std::size_t most, const Addition& add) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string name;
    std::string object;  ///< empty: it is gone
    unsigned look = 0;
    bool changed = false;
  };
  void change(std::size_t at, std::string object);

  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> places_;
  std::deque<std::size_t> changed_;
  unsigned look_ = 0;
};

}  // namespace w8y::page
