// libical, loaded when a rule needs it: with the libraries that it brings it takes 2 MiB of memory
// and some milliseconds of each start, of programs most of which never read a rule.
#pragma once

#include <libical/ical.h>

#include <stdexcept>
#include <string>

namespace w8y::schedule {

/// Nothing is wrong with the rule: this host can't read any.
class NoIcal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Ical {
 public:
  /// Throws NoIcal, which says what to install.
  static const Ical& get();

  decltype(&icalrecurrencetype_from_string) from_string;
  decltype(&icalrecurrencetype_day_position) day_position;
  decltype(&icalrecurrencetype_day_day_of_week) day_of_week;

 private:
  Ical();
};

}  // namespace w8y::schedule
