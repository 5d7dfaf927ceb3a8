#include "core/source_settings.hpp"

#include <utility>
#include <variant>

#include "core/circular_settings.hpp"
#include "core/gearman_settings.hpp"
#include "core/job_settings.hpp"
#include "core/schedule_settings.hpp"

namespace w8y {

/// The settings; the alternatives are in the order of SourceKind.
struct SourceSettings::Value {
  std::variant<CircularSettings, ScheduleSettings, JobSettings, GearmanSettings> of;
  bool operator==(const Value&) const = default;
};

SourceSettings::SourceSettings() = default;
SourceSettings::SourceSettings(const SourceSettings& other) noexcept = default;
SourceSettings& SourceSettings::operator=(const SourceSettings& other) noexcept = default;
SourceSettings::~SourceSettings() = default;
SourceSettings::SourceSettings(CircularSettings settings)
    : kind_(SourceKind::circular), value_(Value{std::move(settings)}) {}
SourceSettings::SourceSettings(ScheduleSettings settings)
    : kind_(SourceKind::schedule), value_(Value{std::move(settings)}) {}
SourceSettings::SourceSettings(JobSettings settings)
    : kind_(SourceKind::job), value_(Value{std::move(settings)}) {}
SourceSettings::SourceSettings(GearmanSettings settings)
    : kind_(SourceKind::gearman), value_(Value{std::move(settings)}) {}

SourceSettings SourceSettings::of(SourceKind kind) {
  switch (kind) {
    case SourceKind::circular:
      break;
    case SourceKind::schedule:
      return ScheduleSettings{};
    case SourceKind::job:
      return JobSettings{};
    case SourceKind::gearman:
      return GearmanSettings{};
  }
  return {};
}

const CircularSettings& SourceSettings::circular() const {
  return std::get<CircularSettings>(value_->of);
}
CircularSettings& SourceSettings::circular() {
  return std::get<CircularSettings>(value_.edit().of);
}
const ScheduleSettings& SourceSettings::schedule() const {
  return std::get<ScheduleSettings>(value_->of);
}
ScheduleSettings& SourceSettings::schedule() {
  return std::get<ScheduleSettings>(value_.edit().of);
}
const JobSettings& SourceSettings::job() const {
  return std::get<JobSettings>(value_->of);
}
JobSettings& SourceSettings::job() {
  return std::get<JobSettings>(value_.edit().of);
}
const GearmanSettings& SourceSettings::gearman() const {
  return std::get<GearmanSettings>(value_->of);
}
GearmanSettings& SourceSettings::gearman() {
  return std::get<GearmanSettings>(value_.edit().of);
}

bool SourceSettings::leases_as(const SourceSettings& other) const {
  // For other kinds, no setting is part of a key, and a connection to gearmand can change its
  // function.
  if (kind_ != other.kind_) return false;
  if (kind_ == SourceKind::schedule) return schedule().key_prefix == other.schedule().key_prefix;
  return kind_ != SourceKind::circular || circular().lock_key == other.circular().lock_key;
}

void SourceSettings::share(const SourceSettings& other) {
  value_.share(other.value_);
}
bool SourceSettings::operator==(const SourceSettings& other) const {
  return value_ == other.value_;
}

}  // namespace w8y
