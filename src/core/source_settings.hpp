// The settings that depend on the kind of work: one of four types, each in a header of its own, so
// that a change of one recompiles only the files that use it.
#pragma once

#include <cstddef>

#include "core/shared.hpp"

namespace w8y {

enum class SourceKind { circular, schedule, job, gearman };
constexpr std::size_t source_kind_count = 4;

struct CircularSettings;
struct ScheduleSettings;
struct JobSettings;
struct GearmanSettings;

/// A copy costs one pointer; a change copies the settings first, if another copy has them too.
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

  /// The defaults of that kind.
  static SourceSettings of(SourceKind kind);

  [[nodiscard]] SourceKind kind() const { return kind_; }
  // Settings of that kind only.
  [[nodiscard]] const CircularSettings& circular() const;
  [[nodiscard]] CircularSettings& circular();
  [[nodiscard]] const ScheduleSettings& schedule() const;
  [[nodiscard]] ScheduleSettings& schedule();
  [[nodiscard]] const JobSettings& job() const;
  [[nodiscard]] JobSettings& job();
  [[nodiscard]] const GearmanSettings& gearman() const;
  [[nodiscard]] GearmanSettings& gearman();

  /// Whether an item that is leased under one of these settings is leased under the other as well:
  /// the keys of leases have the same names.
  [[nodiscard]] bool leases_as(const SourceSettings& other) const;
  /// If both are the same, they are in memory once from then on.
  void share(const SourceSettings& other);
  bool operator==(const SourceSettings& other) const;

 private:
  struct Value;
  SourceKind kind_ = SourceKind::circular;
  Shared<Value> value_;
};

}  // namespace w8y
