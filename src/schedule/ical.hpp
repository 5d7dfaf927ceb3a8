// Loads libical when a rule needs it. With its own libraries it takes 2 MiB of memory and some
// milliseconds at start, and most programs never read a rule.
#pragma once

#include <libical/ical.h>

#include <stdexcept>

namespace w8y::schedule {

/// Error: this host cannot read rules. It says nothing about the rule.
class NoIcal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Ical {
 public:
  /// Returns the loaded library. Throws NoIcal with the name of the package to install.
  static const Ical& get();

  decltype(&icalrecurrencetype_from_string) from_string;
  decltype(&icalrecurrencetype_day_position) day_position;
  decltype(&icalrecurrencetype_day_day_of_week) day_of_week;

 private:
  Ical();
};

}  // namespace w8y::schedule
