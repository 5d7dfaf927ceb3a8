#include "schedule/ical.hpp"

#include "core/optional_library.hpp"
#include "schedule/schedule.hpp"

namespace w8y::schedule {

namespace {

/// File name of libical 3, the version of Debian 12 and 13.
constexpr const char* ical_name = "libical.so.3";

}  // namespace

const Ical& Ical::get() {
  static const Ical library;
  return library;
}

Ical::Ical() try {
  const OptionalLibrary library(ical_name);
  library.find(from_string, "icalrecurrencetype_from_string");
  library.find(day_position, "icalrecurrencetype_day_position");
  library.find(day_of_week, "icalrecurrencetype_day_day_of_week");
  decltype(&icalerror_set_errors_are_fatal) set_fatal = nullptr;
  library.find(set_fatal, "icalerror_set_errors_are_fatal");
  set_fatal(0);
} catch (const std::runtime_error& error) {
  throw NoIcal("schedules cannot be read on this host: " + std::string(error.what()) +
               "; install libical 3");
}

std::string why_no_schedules() {
  try {
    Ical::get();
    return {};
  } catch (const NoIcal& error) {
    return error.what();
  }
}

}  // namespace w8y::schedule
