#include "schedule/ical.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "schedule/schedule.hpp"

namespace w8y::schedule {

namespace {

/// The name of version 3, in Debian 12 and 13.
constexpr const char* ical_name = "libical.so.3";

}  // namespace

const Ical& Ical::get() {
  static const Ical library;
  return library;
}

Ical::Ical() {
  void* library = dlopen(ical_name, RTLD_NOW | RTLD_LOCAL);
  decltype(&icalerror_set_errors_are_fatal) set_fatal = nullptr;
  const auto find = [library](auto& function, const char* name) {
    function = library == nullptr
                   ? nullptr
                   : reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function != nullptr) return;
    const char* why = dlerror();
    throw NoIcal("schedules can't be read on this host: " +
                 std::string(why != nullptr ? why : ical_name) + "; install libical 3");
  };
  find(from_string, "icalrecurrencetype_from_string");
  find(day_position, "icalrecurrencetype_day_position");
  find(day_of_week, "icalrecurrencetype_day_day_of_week");
  find(set_fatal, "icalerror_set_errors_are_fatal");
  set_fatal(0);
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
