#include "store/fleet/reader.hpp"

#include <algorithm>

#include "core/number.hpp"
#include "loop/loop.hpp"
#include "redis/command.hpp"

namespace w8y::store {

namespace {

constexpr std::size_t max_hosts = 10'000;
/// Maximum number of heartbeats that one loop iteration parses: 50 of 4 KiB take about 5 ms.
constexpr std::size_t heartbeats_at_once = 50;
/// Maximum length of a host ID; those of real hosts are shorter.
constexpr std::size_t max_id = 512;

std::string score_text(WallTime time) {
  return std::to_string(time.count());
}

}  // namespace

struct FleetReader::Round {
  std::vector<Then> waiting;
  std::shared_ptr<FleetView> view = std::make_shared<FleetView>();
  std::size_t live = 0;     ///< hosts whose heartbeats have not expired; they are first
  std::size_t asked = 0;    ///< hosts whose heartbeats were requested
  std::size_t missing = 0;  ///< heartbeats requested and not received
  bool over = false;
};

FleetReader::FleetReader(loop::Loop& loop, redis::Client& client, const std::string& fleet)
    : loop_(loop), client_(client), fleet_(fleet), keys_(fleet), begin_(loop.timers()) {}

FleetReader::~FleetReader() = default;

void FleetReader::read(Then then) {
  later_.push_back(std::move(then));
  if (!round_ && !begin_.pending()) begin_.set(loop_.now(), [this] { begin(); });
}

void FleetReader::begin() {
  if (round_ || later_.empty()) return;
  round_ = std::make_shared<Round>();
  round_->waiting = std::exchange(later_, {});
  round_->view->fleet = fleet_;
  ask_time(round_);
}

void FleetReader::call(const RoundPtr& round, const redis::Command& command, const std::string& key,
                       std::function<void(const redis::Answer&)> look) {
  client_.call(command, [this, alive = std::weak_ptr<Round>(round), key,
                         look = std::move(look)](const redis::Answer& answer) {
    const auto asked = alive.lock();  // null after the reader was destroyed
    if (!asked || asked->over) return;
    if (answer.failure != redis::Failure::none) return fail(asked, answer, key);
    look(answer);
  });
}

/// Requests the time. The command with the key is first: in a cluster, TIME then goes to the same
/// node.
void FleetReader::ask_time(const RoundPtr& round) {
  call(round, {"ZCARD", keys_.hosts}, keys_.hosts, [this](const redis::Answer& answer) {
    if (!answer.ok()) fail(round_, answer, keys_.hosts);
  });
  call(round, {"TIME"}, "TIME", [this](const redis::Answer& answer) {
    if (!answer.ok()) return fail(round_, answer, "TIME");
    round_->view->now = redis::server_time(answer.reply);
    ask_hosts(round_);
  });
}

/// Reads the IDs of the hosts. Scores that no heartbeat can have are excluded, regardless of their
/// number. One command reads all IDs: between two commands, a host with a new heartbeat would move
/// past the second one.
void FleetReader::ask_hosts(const RoundPtr& round) {
  const WallTime life = std::chrono::duration_cast<WallTime>(heartbeat_life);
  const std::string newest = score_text(round->view->now + life);
  const std::string oldest =
      "(" + score_text(round->view->now - std::chrono::duration_cast<WallTime>(unresponsive_life));
  const std::string count = std::to_string(max_hosts + 1);
  call(round, {"ZREVRANGEBYSCORE", keys_.hosts, newest, oldest, "WITHSCORES", "LIMIT", "0", count},
       keys_.hosts, [this](const redis::Answer& answer) {
         if (!answer.ok()) return fail(round_, answer, keys_.hosts);
         take_hosts(round_, answer);
       });
}

void FleetReader::take_hosts(const RoundPtr& round, const redis::Answer& answer) {
  FleetView& view = *round->view;
  view.truncated = answer.reply.size() / 2 > max_hosts;
  const std::size_t found = std::min(answer.reply.size() / 2, max_hosts);
  view.hosts.reserve(found);
  for (std::size_t i = 0; i < found; ++i) {
    const std::string_view id = answer.reply[2 * i].text();
    if (id.empty() || id.size() > max_id) continue;
    FleetHost& host = view.hosts.emplace_back();
    host.heartbeat.id = id;
    host.heartbeat.host = name_in_host_id(id);
    const double score = read_real(answer.reply[2 * i + 1].text()).value_or(0);
    host.last_heartbeat = read_ms(score).value_or(WallTime{0});
    host.expired = host.last_heartbeat + heartbeat_life <= view.now;
    if (host.expired) continue;
    host.error = "no heartbeat";
    round->live = view.hosts.size();
  }
  ask_heartbeats(round);
}

/// Reads heartbeats with GETRANGE instead of MGET, so that a value that is too long is read only up
/// to the maximum.
void FleetReader::ask_heartbeats(const RoundPtr& round) {
  const std::size_t first = round->asked;
  const std::size_t end = std::min(round->live, first + heartbeats_at_once);
  if (first == end) return finish(round);
  round->asked = end;
  round->missing = end - first;
  const std::string last = std::to_string(max_heartbeat);
  for (std::size_t i = first; i < end; ++i) {
    const std::string key = keys_.host(round->view->hosts[i].heartbeat.id);
    call(round, {"GETRANGE", key, "0", last}, key,
         [this, i](const redis::Answer& answer) { take_heartbeat(round_, i, answer.reply); });
  }
}

void FleetReader::take_heartbeat(const RoundPtr& round, std::size_t at, const redis::Reply& reply) {
  FleetHost& host = round->view->hosts[at];
  if (reply.is_error()) {
    host.error = "its heartbeat cannot be read: " + std::string(reply.text().substr(0, 200));
  } else if (!reply.is_string() || reply.text().empty()) {
    host.error = "no heartbeat";
  } else if (reply.text().size() > max_heartbeat) {
    host.error = "its heartbeat has more than " + std::to_string(max_heartbeat) + " bytes";
  } else if (auto heartbeat = parse_heartbeat(reply.text())) {
    heartbeat->id = std::move(host.heartbeat.id);
    host.heartbeat = std::move(*heartbeat);
    host.error.clear();
  } else {
    host.error = "its heartbeat is not valid";
  }
  if (--round->missing == 0) ask_heartbeats(round);
}

void FleetReader::finish(const RoundPtr& round) {
  classify(*round->view);
  round->over = true;
  const RoundPtr done = std::exchange(round_, nullptr);
  if (!later_.empty()) begin_.set(loop_.now(), [this] { begin(); });
  for (const Then& then : done->waiting) then(done->view);
}

void FleetReader::fail(const RoundPtr& round, const redis::Answer& answer, const std::string& key) {
  if (round->over) return;
  FleetView& view = *round->view;
  view.unreachable =
      answer.failure != redis::Failure::none || redis::is_about_server(answer.error());
  view.hosts.clear();
  view.error = (view.unreachable ? "" : key + ": ") + answer.problem();
  finish(round);
}

}  // namespace w8y::store
