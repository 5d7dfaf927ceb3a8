#include "store/fleet/minutes.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

struct FleetMinutes::Round {
  std::vector<Host> hosts;
  std::vector<std::int64_t> minutes;
  std::size_t missing = 0;  ///< answers
  Then then;
};

namespace {

/// Hosts that are asked about: a page that shows more can't be read.
constexpr std::size_t most_counted = 250;

}  // namespace

void FleetMinutes::read(std::vector<std::string> ids, std::int64_t last, WallTime now, Then then) {
  const auto round = std::make_shared<Round>();
  round->then = std::move(then);
  const std::int64_t newest = std::chrono::floor<std::chrono::minutes>(now).count();
  last = std::clamp<std::int64_t>(last, 1, FleetKeys::minutes_kept);
  for (std::int64_t minute = newest - last + 1; minute <= newest; ++minute)
    round->minutes.push_back(minute);
  ids.resize(std::min(ids.size(), most_counted));
  for (std::string& id : ids) round->hosts.push_back({std::move(id), {}});
  if (round->hosts.empty()) return round->then(round->hosts);
  round->missing = round->hosts.size() * (cluster_ ? round->minutes.size() : 1);
  for (std::size_t host = 0; host < round->hosts.size(); ++host) ask(round, host);
}

void FleetMinutes::ask(const std::shared_ptr<Round>& round, std::size_t host) {
  const auto take = [round, host](const redis::Reply& reply) {
    if (!reply.is_string() || reply.text().empty() || reply.text().size() > max_minute) return;
    round->hosts[host].minutes.emplace_back(reply.text());
  };
  const auto done = [round, alive = std::weak_ptr<bool>(alive_)] {
    if (--round->missing == 0 && !alive.expired()) round->then(round->hosts);
  };
  std::vector<std::string> keys;
  for (const std::int64_t minute : round->minutes)
    keys.push_back(keys_.minute(round->hosts[host].id, minute));
  if (!cluster_) {
    redis::Command get{"MGET"};
    get.insert(get.end(), keys.begin(), keys.end());
    return client_.call(get, [take, done](const redis::Answer& answer) {
      for (std::size_t i = 0; answer.ok() && i < answer.reply.size(); ++i) take(answer.reply[i]);
      done();
    });
  }
  // A value that is longer than a minute's is looked at no further than that.
  const std::string end = std::to_string(max_minute);
  for (const std::string& key : keys)
    client_.call({"GETRANGE", key, "0", end}, [take, done](const redis::Answer& answer) {
      if (answer.ok()) take(answer.reply);
      done();
    });
}

}  // namespace w8y::store
