#include <algorithm>

#include "core/text.hpp"
#include "schedule/recurrence_data.hpp"

namespace w8y::schedule {

namespace {

constexpr std::string_view blanks = " \t\n\v\f\r";

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

/// A line NAME;PARAMETER=VALUE:VALUE.
struct Property {
  std::string name;
  std::vector<std::string_view> parameters;  ///< as written: names of zones have lower-case letters
  std::string_view value;
};

Property read_property(std::string_view line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  // A line without a name is a rule.
  if (colon == line.size() && line.find('=') != line.npos) return {"RRULE", {}, line};
  Property property;
  property.parameters = split(line.substr(0, colon), ";");
  property.name = upper(property.parameters.front());
  property.parameters.erase(property.parameters.begin());
  property.value = line.substr(std::min(line.size(), colon + 1));
  return property;
}

bool is_rule(const Property& property) {
  return property.name == "RRULE" || property.name == "EXRULE";
}
bool has_times(const Property& property) {
  return property.name == "DTSTART" || property.name == "RDATE" || property.name == "EXDATE";
}

std::vector<Property> read_properties(std::string_view text) {
  std::vector<Property> properties;
  for (const std::string_view line : split(text, blanks)) {
    if (line.empty()) continue;
    Property property = read_property(line);
    if (!is_rule(property) && !has_times(property))
      throw ScheduleError{
          core::quote_start(line) +
          " is not a schedule: write STOP, CONTINUE, NOW, AT:SECONDS, or lines with "
          "DTSTART, RRULE, RDATE, EXRULE or EXDATE"};
    if (is_rule(property) && !property.parameters.empty())
      throw ScheduleError{core::quote_start(line) + ": " + property.name +
                          " has no parameters; remove " +
                          core::quote_start(property.parameters[0])};
    properties.push_back(std::move(property));
  }
  return properties;
}

/// Zone of TZID; nullptr if there is none.
std::shared_ptr<const Zone> zone_of(const Property& property) {
  std::shared_ptr<const Zone> zone;
  for (const std::string_view parameter : property.parameters) {
    const std::string name = upper(parameter);
    if (name.starts_with("TZID="))
      zone = Zone::find(parameter.substr(5));
    else if (name != "VALUE=DATE-TIME" && name != "VALUE=DATE")
      throw ScheduleError{property.name + " has the parameter " + core::quote_start(parameter) +
                          "; the only parameters are TZID, VALUE=DATE-TIME and VALUE=DATE"};
  }
  return zone;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : properties_(read_properties(text)) {}

  Lines read() {
    for (const Property& property : properties_)
      if (property.name == "DTSTART") read_start(property);
    for (const Property& property : properties_) {
      if (is_rule(property)) read_one_rule(property);
      if (property.name == "RDATE") read_times(property, lines_.times);
      if (property.name == "EXDATE") read_times(property, lines_.excluded_times);
    }
    if (lines_.rules.empty() && lines_.times.empty())
      throw ScheduleError{
          "it has neither RRULE nor RDATE; add one, such as RRULE:FREQ=DAILY, or write AT:SECONDS "
          "for a single time"};
    return std::move(lines_);
  }

 private:
  /// If there are several, the last one counts, as in dateutil.
  void read_start(const Property& property) {
    const auto zone = zone_of(property);
    const TimeText time = read_time(upper(property.value));
    if (zone && time.utc) refuse_two_zones(property);
    lines_.zone = zone ? zone : Zone::utc();
    lines_.start = time.wall;
  }

  void read_one_rule(const Property& property) {
    const auto until = [this](TimeText time) {
      return time.utc ? lines_.zone->wall(time.wall) : time.wall;
    };
    auto& rules = property.name == "RRULE" ? lines_.rules : lines_.excluded_rules;
    rules.push_back(read_rule(upper(property.value), until));
  }

  void read_times(const Property& property, std::vector<UnixSeconds>& times) {
    auto zone = zone_of(property);
    for (const std::string_view part : split(property.value, ",")) {
      const TimeText time = read_time(upper(part));
      if (zone && time.utc) refuse_two_zones(property);
      times.push_back(time.utc ? time.wall : (zone ? zone : lines_.zone)->when(time.wall));
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
  }

  [[noreturn]] static void refuse_two_zones(const Property& property) {
    throw ScheduleError{property.name + " has both TZID and a Z: omit one of them"};
  }

  std::vector<Property> properties_;
  Lines lines_;
};

void refuse_strange_bytes(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && blanks.find(text[at]) == blanks.npos) || byte >= 0x7F)
      throw ScheduleError{"byte " + std::to_string(at + 1) + " is " + std::to_string(byte) +
                          "; a schedule must be plain ASCII text"};
  }
}

}  // namespace

Lines read_lines(std::string_view text) {
  refuse_strange_bytes(text);
  if (text.find_first_not_of(blanks) == text.npos)
    throw ScheduleError{
        "it is empty: write STOP, CONTINUE, NOW, AT:SECONDS or a rule such as FREQ=DAILY"};
  return Reader(text).read();
}

std::string first_zone(std::string_view text) {
  std::vector<Property> properties;
  try {
    properties = read_properties(text);
  } catch (const ScheduleError&) {
    return {};
  }
  for (const Property& property : properties) {
    for (const std::string_view parameter : property.parameters)
      if (upper(parameter).starts_with("TZID=")) return "the TZID of " + property.name;
    const std::string value = upper(property.value);
    for (const std::string_view part : split(value, is_rule(property) ? ";" : ",")) {
      if (!part.ends_with('Z')) continue;
      if (!is_rule(property)) return "the Z of " + property.name;
      if (part.starts_with("UNTIL=")) return "the Z of UNTIL";
    }
  }
  return {};
}

}  // namespace w8y::schedule
