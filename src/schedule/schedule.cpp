#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "schedule/plan.hpp"

namespace w8y::schedule {

namespace {

std::optional<UnixSeconds> number(std::string_view text) {
  UnixSeconds value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

Schedule parse_at(std::string_view digits) {
  const std::string wanted = "AT takes whole seconds since 1970, such as AT:1795266000";
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
    return Bad{wanted + (digits.starts_with('-') ? "; a time before 1970 never comes" : "")};
  const auto time = number(digits);
  if (!time || *time > latest_time)
    return Bad{wanted + "; this one is after the year 9999 (milliseconds?)"};
  return At{*time};
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

/// 20261121T130000
std::optional<UnixSeconds> read_start(std::string_view text) {
  std::tm parts{};
  if (text.size() != 15 || strptime(std::string(text).c_str(), "%Y%m%dT%H%M%S", &parts) == nullptr)
    return {};
  return timegm(&parts);
}

/// FREQ, INTERVAL and COUNT, of those frequencies whose periods have the same length.
std::string read_rule(std::string_view rule, Plan& plan) {
  UnixSeconds unit = 0, interval = 1, count = 0;
  while (!rule.empty()) {
    const std::string_view part = rule.substr(0, rule.find(';'));
    rule.remove_prefix(std::min(rule.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('='));
    const std::string_view value = part.substr(std::min(part.size(), name.size() + 1));
    const std::array<std::pair<std::string_view, UnixSeconds>, 5> units = {{{"SECONDLY", 1},
                                                                            {"MINUTELY", 60},
                                                                            {"HOURLY", 3600},
                                                                            {"DAILY", 86400},
                                                                            {"WEEKLY", 604800}}};
    const auto found =
        std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == value; });
    if (name == "FREQ" && found != units.end()) {
      unit = found->second;
    } else if (name == "INTERVAL" && number(value).value_or(0) > 0) {
      interval = std::min<UnixSeconds>(*number(value), latest_time);
    } else if (name == "COUNT" && number(value).value_or(0) > 0) {
      count = std::min<UnixSeconds>(*number(value), latest_time);
    } else {
      return "its part " + std::string(part.substr(0, 60)) + " is not understood";
    }
  }
  if (unit == 0) return "it has no FREQ";
  plan.period = std::min(unit * interval, latest_time);
  if (count > 0 && count - 1 < (latest_time - plan.start) / plan.period)
    plan.last = plan.start + (count - 1) * plan.period;
  return {};
}

Schedule parse_lines(std::string_view text, UnixSeconds now) {
  auto plan = std::make_shared<Plan>();
  plan->start = now;
  const std::string lines = upper(text);
  std::string rule;
  for (std::size_t from = 0; from <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', from), lines.size());
    std::string line = lines.substr(from, end - from);
    from = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (line.starts_with("DTSTART:")) {
      const auto start = read_start(std::string_view(line).substr(8));
      if (!start) return Bad{"DTSTART is no time such as 20261121T130000"};
      plan->start = *start;
    } else if (line.starts_with("RRULE:") && rule.empty()) {
      rule = line.substr(6);
    } else if (line.starts_with("FREQ=") && rule.empty()) {
      rule = line;
    } else {
      return Bad{"not understood: " + line.substr(0, 60)};
    }
  }
  if (rule.empty()) return Bad{"it has no rule: give RRULE, such as FREQ=DAILY"};
  const std::string why = read_rule(rule, *plan);
  if (!why.empty()) return Bad{why};
  return Recurrence(std::move(plan));
}

}  // namespace

Recurrence::Recurrence(std::shared_ptr<const Plan> plan) noexcept : plan_(std::move(plan)) {}

std::optional<UnixSeconds> Recurrence::next_after(UnixSeconds after) const {
  if (after < plan_->start) return plan_->start;
  if (after >= plan_->last) return {};
  const UnixSeconds next =
      plan_->start + ((after - plan_->start) / plan_->period + 1) * plan_->period;
  if (next > plan_->last) return {};
  return next;
}

const std::string& Recurrence::zone() const noexcept {
  return plan_->zone;
}

std::string Recurrence::in_zone(UnixSeconds time) const {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  return {text.data(), strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S+00:00", &parts)};
}

Schedule parse_schedule(std::string_view text, UnixSeconds now) {
  if (text.empty()) return Bad{"it is empty: give STOP, CONTINUE, NOW, AT:SECONDS or a rule"};
  if (text.size() > longest_schedule)
    return Bad{"it has " + std::to_string(text.size()) + " bytes; a schedule has at most " +
               std::to_string(longest_schedule)};
  if (text == "STOP") return Stop{};
  if (text == "CONTINUE") return Continue{};
  if (text == "NOW") return Now{};
  if (text.starts_with("AT:")) return parse_at(text.substr(3));
  return parse_lines(text, now);
}

std::string in_words(const Schedule& schedule, std::string_view text) {
  if (std::holds_alternative<Stop>(schedule)) return "stopped";
  if (std::holds_alternative<Continue>(schedule)) return "again and again";
  if (std::holds_alternative<Now>(schedule)) return "once, now";
  return std::string(text);
}

std::string redbike_stumbles(std::string_view text) {
  const std::string lines = upper(text);
  if (lines.find(";TZID=") != lines.npos) return "it has a TZID";
  return {};
}

}  // namespace w8y::schedule
