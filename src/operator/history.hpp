// Reads finished runs from the histories, `P:runs` and `P:failed-runs`, and from `P:kept-runs`
// (w8y-keys(7); view/run_record).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "operator/key_names.hpp"
#include "redis/reply_copy.hpp"
#include "redis/sync.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

/// Reads the run record that is kept while the quarantine or stall of an item lasts.
std::optional<view::RunRecord> read_kept_run(redis::SyncClient& client, const KeyNames& list,
                                             const Item& item);
/// Passes all these records of lists to `take`, until it returns false.
void read_kept_runs(redis::SyncClient& client, const std::vector<KeyNames>& lists,
                    const std::function<bool(view::RunRecord&&)>& take);

/// Reads the histories of one list, or of several lists, merged by time, newest first.
class History {
 public:
  enum class Of { all_runs, failed_runs };
  History(redis::SyncClient& client, const std::vector<KeyNames>& lists, Of which = Of::all_runs);

  /// Reads the next older run; false: there is none.
  bool next(view::RunRecord& run);

  /// Position in one history, for the next page.
  struct Place {
    std::size_t behind = 0;   ///< entries before it, without those added since
    std::uint64_t entry = 0;  ///< digest of the last entry that next() returned
    WallTime entered{0};      ///< when it was added
  };
  /// Number of histories of one list.
  static constexpr std::size_t of_list = 2;
  /// Returns the positions in the histories of one list.
  [[nodiscard]] std::vector<Place> places() const;
  /// Continues after these positions. Called before the first next().
  void next_step(const std::vector<Place>& places);
  /// Adds the record of a kept run, unless a history has it. Called before the first next().
  void add_kept(view::RunRecord&& run);
  /// Returns whether next() has returned the record of the kept run.
  [[nodiscard]] bool kept_read() const { return kept_read_; }
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
    Place place;                                   ///< of the last entry that next() returned
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
  std::string kept_;  ///< ID of the kept run
  bool kept_read_ = false;
  std::size_t read_ = 0;
};

}  // namespace w8y::verbs
