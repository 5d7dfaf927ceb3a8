#include "store/fleet/marks.hpp"

#include "view/fleet.hpp"

namespace w8y::store {

namespace {

/// Life of the marks after the last one: a little longer than the statistics.
constexpr Duration marks_life = std::chrono::hours(25);
/// Maximum length of a version that is compared.
constexpr const char* last_of_version = "127";

}  // namespace

FleetMarks::FleetMarks(redis::Client& client, const std::string& fleet)
    : client_(client), keys_(fleet) {}

void FleetMarks::record(const view::StatisticsMark& mark) {
  const std::string text = to_text(mark);
  const std::string score = std::to_string(mark.at.count());
  const std::string life = ms_of(marks_life);
  if (text.size() > view::max_mark) return;  // a list with a very long name
  client_.call({"ZADD", keys_.marks, score, text});
  client_.call({"PEXPIRE", keys_.marks, life});
  remove_surplus();
}

/// Removes the oldest marks beyond the maximum number.
void FleetMarks::remove_surplus() {
  const std::string first_kept = std::to_string(-static_cast<long>(view::max_marks) - 1);
  client_.call({"ZRANGE", keys_.marks, "0", first_kept},
               [this, alive = std::weak_ptr<bool>(alive_)](const redis::Answer& answer) {
                 if (alive.expired() || !answer.ok() || answer.reply.size() == 0) return;
                 redis::Command remove{"ZREM", keys_.marks};
                 for (std::size_t i = 0; i < answer.reply.size(); ++i)
                   remove.push_back(answer.reply[i].text());
                 client_.call(remove);
               });
}

void FleetMarks::record_start(const std::string& host, const std::string& version, WallTime at) {
  const std::string key = keys_.version(host);
  client_.call(
      {"GETRANGE", key, "0", last_of_version},
      [this, alive = std::weak_ptr<bool>(alive_), host, version, at](const redis::Answer& answer) {
        if (alive.expired() || !answer.ok()) return;
        const std::string before(answer.reply.text());
        if (before.empty() || before == version) return;
        record({at,
                view::StatisticsMark::Kind::start,
                host,
                {},
                "w8yd " + version + ", before " + before});
      });
  keep_version(host, version);
}

void FleetMarks::keep_version(const std::string& host, const std::string& version) {
  const std::string key = keys_.version(host);
  client_.call({"SET", key, version, "PX", ms_of(unresponsive_life)});
}

}  // namespace w8y::store
