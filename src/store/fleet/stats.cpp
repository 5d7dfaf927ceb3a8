#include "store/fleet/stats.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace w8y::store {

namespace {

/// Maximum number of fields read, and written, in one command.
constexpr const char* read_at_once = "1000";
constexpr std::size_t written_at_once = 256;
/// Maximum number of fields that are read: other clients may have added any number.
constexpr std::size_t max_fields = 100'000;
/// Life of the statistics after the last write.
constexpr Duration life = std::chrono::minutes(5);

}  // namespace

struct FleetStats::Reading {
  Read then;
  Fields fields;
  std::size_t commands = 0;
};

FleetStats::FleetStats(redis::Client& client, redis::Subscriber& subscriber,
                       const std::string& fleet, std::string id, Heard heard)
    : client_(client),
      subscriber_(subscriber),
      keys_(fleet),
      id_(std::move(id)),
      heard_(std::move(heard)) {}

void FleetStats::listen() {
  if (std::exchange(listens_, true)) return;
  news_ = subscriber_.subscribe(
      keys_.stats, [this](std::string_view, std::string_view message) { subscribe(message); });
}

/// Parses a message: for each field "<length of name> <length of text>\n", its name and its text.
/// Other clients may publish anything.
void FleetStats::subscribe(std::string_view message) const {
  const auto number = [&message](char end) -> std::optional<std::size_t> {
    std::size_t value = 0;
    const auto [at, error] =
        std::from_chars(message.data(), message.data() + message.size(), value);
    if (error != std::errc() || at == message.data() + message.size() || *at != end)
      return std::nullopt;
    message.remove_prefix(static_cast<std::size_t>(at - message.data()) + 1);
    return value;
  };
  while (!message.empty()) {
    const auto name = number(' ');
    const auto text = name ? number('\n') : std::nullopt;
    if (!text || *name > message.size() || *text > message.size() - *name) return;
    heard_(std::string(message.substr(0, *name)), std::string(message.substr(*name, *text)));
    message.remove_prefix(*name + *text);
  }
}

void FleetStats::read(Read then) {
  const auto reading = std::make_shared<Reading>();
  reading->then = std::move(then);
  scan(reading, "0");
}

void FleetStats::scan(const std::shared_ptr<Reading>& reading, const std::string& cursor) {
  ++reading->commands;
  client_.call({"HSCAN", keys_.stats, cursor, "COUNT", read_at_once},
               [this, alive = std::weak_ptr<bool>(alive_), reading](const redis::Answer& answer) {
                 if (alive.expired()) return;
                 if (!answer.ok() || answer.reply.size() != 2)
                   return reading->then(false, {}, reading->commands);
                 const redis::Reply found = answer.reply[1];
                 for (std::size_t i = 0; i + 1 < found.size(); i += 2)
                   reading->fields.emplace_back(found[i].text(), found[i + 1].text());
                 const std::string next(answer.reply[0].text());
                 if (next != "0" && reading->fields.size() < max_fields) return scan(reading, next);
                 reading->then(true, std::move(reading->fields), reading->commands);
               });
}

void FleetStats::acquire_lock(std::function<void(bool taken)> then) {
  client_.call(
      {"SET", keys_.collector, id_, "PX", ms_of(right_life), "NX"},
      [alive = std::weak_ptr<bool>(alive_), then = std::move(then)](const redis::Answer& answer) {
        if (!alive.expired()) then(answer.ok() && !answer.reply.is_nil());
      });
}

void FleetStats::renew_lock() {
  client_.call({"PEXPIRE", keys_.collector, ms_of(right_life)});
}

void FleetStats::release_lock() {
  client_.call({"DEL", keys_.collector});
}

void FleetStats::write(const Fields& fields) {
  for (std::size_t first = 0; first < fields.size(); first += written_at_once) {
    redis::Command set{"HSET", keys_.stats};
    std::string news;
    for (std::size_t i = first; i < std::min(fields.size(), first + written_at_once); ++i) {
      const auto& [name, text] = fields[i];
      set.insert(set.end(), {name, text});
      news += std::to_string(name.size()) + " " + std::to_string(text.size()) + "\n";
      news.append(name).append(text);
    }
    client_.call(set);
    client_.call({"PUBLISH", keys_.stats, news});
  }
  const std::string expires = ms_of(life);  // of the key: each write extends its life
  if (!fields.empty()) client_.call({"PEXPIRE", keys_.stats, expires});
}

void FleetStats::remove(const std::vector<std::string>& names) {
  for (std::size_t first = 0; first < names.size(); first += written_at_once) {
    redis::Command remove{"HDEL", keys_.stats};
    const std::size_t end = std::min(names.size(), first + written_at_once);
    remove.insert(remove.end(), names.begin() + static_cast<std::ptrdiff_t>(first),
                  names.begin() + static_cast<std::ptrdiff_t>(end));
    client_.call(remove);
  }
}

}  // namespace w8y::store
