// Statistics of the last hour: numbers of ended and failed runs per minute, per list and in total,
// and the durations that were not published yet. A list without runs in that hour uses no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/duration_bins.hpp"

namespace w8y {

struct MinuteCount {
  std::int64_t minute = 0;  ///< since 1970
  std::uint32_t runs = 0;   ///< number of runs that ended
  std::uint32_t failed = 0;

  bool operator==(const MinuteCount&) const = default;
};

/// Statistics of one minute of a list or of all lists, to be published.
struct MinuteStats {
  std::optional<std::string> list;  ///< nullopt: all lists
  MinuteCount count;
  DurationBins durations;  ///< of the runs
  DurationBins cycles;     ///< measured cycle times
};

class RunsPerMinute {
 public:
  static constexpr std::int64_t length = 60;  ///< minutes

  /// Counts a run that ended.
  void add(std::string_view prefix, bool failed, Duration duration, WallTime now);
  /// Records a measured cycle time.
  void add_cycle(std::string_view prefix, WallTime cycle, WallTime now);
  /// Returns and forgets the statistics that were added since the last call: first of all lists
  /// together, then of at most `most` lists, the oldest statistics first.
  std::vector<MinuteStats> drain(std::size_t most);
  /// Returns the counts of each minute with runs, the oldest first; at most `last` minutes.
  [[nodiscard]] std::vector<MinuteCount> total(WallTime now, std::int64_t last = length) const;
  [[nodiscard]] std::vector<MinuteCount> of(std::string_view prefix, WallTime now,
                                            std::int64_t last = length) const;
  /// Returns the sum of the last hour; `minute` is the current one.
  [[nodiscard]] MinuteCount sum(std::string_view prefix, WallTime now) const;
  /// Calls `look` for each list that had a run in the given minute.
  void each(std::int64_t minute,
            const std::function<void(const std::string&, const MinuteCount&)>& look) const;
  [[nodiscard]] std::size_t lists() const { return lists_.size(); }

 private:
  class Buckets {
   public:
    void add(std::int64_t minute, bool failed);
    [[nodiscard]] MinuteCount at(std::int64_t minute) const;
    [[nodiscard]] std::vector<MinuteCount> until(std::int64_t minute, std::int64_t last) const;

   private:
    std::int64_t newest_ = -length;
    std::array<MinuteCount, length> buckets_{};
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  struct Counts {
    MinuteStats& pending_at(std::int64_t minute);

    Buckets buckets;
    std::int64_t newest = -length;     ///< last minute in which anything was added
    std::vector<MinuteStats> pending;  ///< not drained yet, at most `length`, the oldest first
  };

  Counts& counts_of(std::string_view prefix, std::int64_t minute);
  void forget_old(std::int64_t minute);

  Counts total_;
  std::unordered_map<std::string, Counts, Hash, std::equal_to<>> lists_;
};

/// Returns [[minute, runs, failed], …].
std::string to_json_text(const std::vector<MinuteCount>& minutes);

}  // namespace w8y
