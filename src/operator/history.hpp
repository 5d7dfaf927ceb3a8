// Reads finished runs from the history, `P:runs` (w8y-keys(7); view/run_record).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "redis/reply_copy.hpp"
#include "redis/sync.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

/// Reads the history of one list, or of several lists merged by time, newest first.
class History {
 public:
  History(redis::SyncClient& client, const std::vector<std::string>& prefixes);

  /// Reads the next older run; false: there is none.
  bool next(view::RunRecord& run);

  /// Position in the history of one list, for the next page.
  struct Place {
    std::size_t behind = 0;   ///< entries before it, without those added since
    std::uint64_t entry = 0;  ///< digest of the entry
  };
  /// Returns the position of the run that next() returned.
  [[nodiscard]] const Place& place() const { return place_; }
  /// Continues after this position. Called before the first next().
  void next_step(const Place& place);
  /// Skips entries added after this time. Called before the first next(). If a clock was set back,
  /// newer entries may come first. Uses binary search, since a history may be long.
  void seek(WallTime time);
  /// Returns the number of entries that were read.
  [[nodiscard]] std::size_t read() const { return read_; }

 private:
  struct Entry {
    view::RunRecord run;
    Place place;
  };
  /// Position in one history.
  struct Reader {
    std::string list;
    std::string key;
    std::size_t at = 0;                            ///< index after the last entry read
    std::optional<std::uint64_t> last;             ///< digest of the last entry read
    std::optional<WallTime> entered = WallTime{};  ///< when the last entry was added, if known
    std::vector<Entry> page;                       ///< newest last
    bool at_end = false;

    /// Returns the index to read next: that of the last entry read, which shows whether all entries
    /// have moved.
    [[nodiscard]] std::size_t first() const { return at == 0 || !last ? at : at - 1; }
    void add(const std::vector<redis::ReplyCopy>& entries, std::size_t asked);
  };
  void fill();
  void read_pages(const std::vector<Reader*>& dry);

  redis::SyncClient& client_;
  std::vector<Reader> readers_;
  Place place_;
  std::size_t read_ = 0;
};

}  // namespace w8y::verbs
