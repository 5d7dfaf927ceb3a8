// Settings that depend on the kind of work. Each of the four types has its own header, so that a
// change of one type recompiles only the files that use it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/copy_on_write.hpp"

namespace w8y {

enum class SourceKind { circular, schedule, job, gearman };
constexpr std::size_t source_kind_count = 4;

/// Facts about a kind of work, so that other code does not name the kinds. There is a row for
/// each.
struct KindTraits {
  SourceKind kind;
  const char* name;  ///< value of `source` in the config
  bool in_redis;     ///< its items and leases are keys in Redis
  bool locks_items;  ///< the key of a lock ends with the item, so it can be a key of another list
  bool has_payload;  ///< a command receives the work on standard input
  bool is_counted_fast;   ///< Redis counts its items without reading them all
  bool is_due_by_time;    ///< its items become due at times of their own
  bool has_key_prefix;    ///< its key prefix may differ from its name, and lists may share it
  const char* bare_keys;  ///< examples of its keys if the key prefix is empty; "" = it has none
  const char* before_key_prefix;  ///< its main key is this, the key prefix and `after_key_prefix`
  const char* after_key_prefix;

  /// Returns the index of the kind in each table with a row per kind.
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(kind); }
  /// Returns the set that contains this kind only.
  [[nodiscard]] constexpr unsigned bit() const { return 1U << index(); }
};

/// In the order of SourceKind.
inline constexpr KindTraits kind_rows[] = {
    {SourceKind::circular, "circular", true, true, false, true, false, false, R"("list", "lock:…")",
     "", ":list"},
    {SourceKind::schedule, "schedule", true, false, false, false, true, true,
     R"("-timeline", "-work-…")", "", "-timeline"},
    {SourceKind::job, "job", true, false, true, true, false, false, R"("feed.ids:", "claims")",
     "feed.ids:", ""},
    {SourceKind::gearman, "gearman", false, false, true, false, false, false, "", "", ""},
};
static_assert(std::size(kind_rows) == source_kind_count);
static_assert(std::ranges::all_of(kind_rows, [](const KindTraits& row) {
  return &row == &kind_rows[row.index()];
}));
/// Kind of a list whose config has no `source`, and of an unknown list.
inline constexpr const KindTraits* default_kind = kind_rows;

constexpr const KindTraits& traits_of(SourceKind kind) {
  return kind_rows[static_cast<std::size_t>(kind)];
}

struct CircularSettings;
struct ScheduleSettings;
struct JobSettings;
struct GearmanSettings;

/// Settings of one kind of work, shared between copies: a copy costs one pointer. A change copies
/// the settings first if another copy shares them.
class SourceSettings {
 public:
  /// The defaults of a circular list.
  SourceSettings();
  SourceSettings(CircularSettings settings);
  SourceSettings(ScheduleSettings settings);
  SourceSettings(JobSettings settings);
  SourceSettings(GearmanSettings settings);
  SourceSettings(const SourceSettings& other) noexcept;
  SourceSettings& operator=(const SourceSettings& other) noexcept;
  ~SourceSettings();

  /// Returns the defaults of `kind`.
  static SourceSettings of(SourceKind kind);

  [[nodiscard]] SourceKind kind() const { return kind_; }
  // Each throws std::bad_variant_access if kind() is different.
  [[nodiscard]] const CircularSettings& circular() const;
  [[nodiscard]] CircularSettings& circular();
  [[nodiscard]] const ScheduleSettings& schedule() const;
  [[nodiscard]] ScheduleSettings& schedule();
  [[nodiscard]] const JobSettings& job() const;
  [[nodiscard]] JobSettings& job();
  [[nodiscard]] const GearmanSettings& gearman() const;
  [[nodiscard]] GearmanSettings& gearman();

  /// Returns whether a lease under these settings is also a lease under `other`: the keys of leases
  /// have the same names.
  [[nodiscard]] bool leases_as(const SourceSettings& other) const;
  /// Shares the memory of `other` if both have the same values.
  void share(const SourceSettings& other);
  bool operator==(const SourceSettings& other) const;

 private:
  struct Value;
  SourceKind kind_ = SourceKind::circular;
  CopyOnWrite<Value> value_;
};

}  // namespace w8y
