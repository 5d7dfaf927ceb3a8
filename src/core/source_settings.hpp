// Settings that depend on the kind of work. Each of the four types has its own header, so that a
// change of one type recompiles only the files that use it.
#pragma once

#include <cstddef>

#include "core/copy_on_write.hpp"

namespace w8y {

enum class SourceKind { circular, schedule, job, gearman };
constexpr std::size_t source_kind_count = 4;

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
