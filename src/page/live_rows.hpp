// Rows that many clients receive. Each row is encoded once for all of them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace w8y::page {

/// Rows by name, in the order in which they were added. Keeps track of the rows that have changed.
class LiveRows {
 public:
  /// Returns the text to add to the members of a row when the row is sent: empty, or starts with
  /// ','.
  using Addition = std::function<std::string(const std::string& name)>;

  /// Sets a row. `object` is a JSON object. An object equal to the previous one changes nothing.
  void record(const std::string& name, std::string object);
  void forget(const std::string& name);
  /// Start and end of an iteration over all rows. Rows that were not set in between are removed.
  void start_iteration() { ++iteration_; }
  void end_look();

  [[nodiscard]] bool changed() const { return !changed_.empty(); }
  /// Returns the next changes, about `most` bytes: `"lists":[…],"removed":[…]`. Empty: there are
  /// none.
  std::string drain_changes(std::size_t most, const Addition& add);
  /// Returns objects from row `at` on, separated by ',', about `most` bytes. Advances `at`, which
  /// is size() at the end.
  [[nodiscard]] std::string part(std::size_t& at, std::size_t most, const Addition& add) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string name;
    std::string object;  ///< empty: the row is removed
    unsigned iteration = 0;
    bool changed = false;
  };
  void change(std::size_t at, std::string object);

  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> places_;
  std::deque<std::size_t> changed_;
  unsigned iteration_ = 0;
};

}  // namespace w8y::page
