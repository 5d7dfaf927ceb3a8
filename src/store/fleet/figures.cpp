#include "store/fleet/figures.hpp"

#include <algorithm>

namespace w8y::store {

namespace {

/// Fields that are asked for, and written, in one command.
constexpr const char* read_at_once = "1000";
constexpr std::size_t written_at_once = 256;
/// More are not read: others have put them there.
constexpr std::size_t most_fields = 100'000;
/// Of them all, when nobody asks any more.
constexpr Duration life = std::chrono::minutes(5);

std::string ms_of(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

struct FleetFigures::Reading {
  Read then;
  Fields fields;
  std::size_t commands = 0;
};

void FleetFigures::read(Read then) {
  const auto reading = std::make_shared<Reading>();
  reading->then = std::move(then);
  scan(reading, "0");
}

void FleetFigures::scan(const std::shared_ptr<Reading>& reading, const std::string& cursor) {
  ++reading->commands;
  client_.call({"HSCAN", keys_.figures, cursor, "COUNT", read_at_once},
               [this, alive = std::weak_ptr<bool>(alive_), reading](const redis::Answer& answer) {
                 if (alive.expired()) return;
                 if (!answer.ok() || answer.reply.size() != 2)
                   return reading->then(false, {}, reading->commands);
                 const redis::Reply found = answer.reply[1];
                 for (std::size_t i = 0; i + 1 < found.size(); i += 2)
                   reading->fields.emplace_back(found[i].text(), found[i + 1].text());
                 const std::string next(answer.reply[0].text());
                 if (next != "0" && reading->fields.size() < most_fields)
                   return scan(reading, next);
                 reading->then(true, std::move(reading->fields), reading->commands);
               });
}

void FleetFigures::take_right(std::function<void(bool taken)> then) {
  client_.call(
      {"SET", keys_.asking, id_, "PX", ms_of(right_life), "NX"},
      [alive = std::weak_ptr<bool>(alive_), then = std::move(then)](const redis::Answer& answer) {
        if (!alive.expired()) then(answer.ok() && !answer.reply.is_nil());
      });
}

void FleetFigures::prolong_right() {
  client_.call({"PEXPIRE", keys_.asking, ms_of(right_life)});
}

void FleetFigures::give_right_back() {
  client_.call({"DEL", keys_.asking});
}

void FleetFigures::write(const Fields& fields) {
  for (std::size_t first = 0; first < fields.size(); first += written_at_once) {
    redis::Command set{"HSET", keys_.figures};
    for (std::size_t i = first; i < std::min(fields.size(), first + written_at_once); ++i)
      set.insert(set.end(), {fields[i].first, fields[i].second});
    client_.call(set);
  }
  const std::string expires = ms_of(life);  // of the key: each write prolongs it
  if (!fields.empty()) client_.call({"PEXPIRE", keys_.figures, expires});
}

void FleetFigures::remove(const std::vector<std::string>& names) {
  for (std::size_t first = 0; first < names.size(); first += written_at_once) {
    redis::Command remove{"HDEL", keys_.figures};
    const std::size_t end = std::min(names.size(), first + written_at_once);
    remove.insert(remove.end(), names.begin() + static_cast<std::ptrdiff_t>(first),
                  names.begin() + static_cast<std::ptrdiff_t>(end));
    client_.call(remove);
  }
}

}  // namespace w8y::store
