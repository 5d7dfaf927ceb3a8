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

/// Walks back through the history of one list, or of many merged by time.
class History {
 public:
  History(redis::SyncClient& client, const std::vector<std::string>& prefixes);

  /// The next older run; false: there is none.
  bool next(view::RunRecord& run);

  /// Of one list: behind which entry we are, for who goes on later.
  struct Place {
    std::size_t behind = 0;   ///< entries, those that came in since apart
    std::uint64_t entry = 0;  ///< which it was: a digest of it
  };
  /// Of the run that next() has returned.
  [[nodiscard]] const Place& place() const { return place_; }
  /// Goes on there, before the first next().
  void go_on(const Place& place);
  /// Goes to what had come in by then, before the first next(): a few more may come first, where a
  /// clock was set back. By halving, since a history may be long.
  void go_back_to(WallTime time);
  /// How many entries were read.
  [[nodiscard]] std::size_t read() const { return read_; }

 private:
  struct Entry {
    view::RunRecord run;
    Place place;
  };
  /// Where we are in one of them.
  struct Reader {
    std::string list;
    std::string key;
    std::size_t at = 0;                            ///< behind what was read
    std::optional<std::uint64_t> last;             ///< that was read: a digest of it
    std::optional<WallTime> entered = WallTime{};  ///< when that one came in, if that is known
    std::vector<Entry> page;                       ///< the newest last
    bool at_end = false;

    /// The index that is read next: of the one that was read last, which shows whether all have
    /// moved.
    [[nodiscard]] std::size_t first() const { return at == 0 || !last ? at : at - 1; }
    void take(const std::vector<redis::ReplyCopy>& entries, std::size_t asked);
  };
  void fill();
  void read_pages(const std::vector<Reader*>& dry);

  redis::SyncClient& client_;
  std::vector<Reader> readers_;
  Place place_;
  std::size_t read_ = 0;
};

}  // namespace w8y::verbs
