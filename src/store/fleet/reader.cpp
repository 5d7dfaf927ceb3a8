#include "store/fleet/reader.hpp"

#include <algorithm>

#include <w8y/number.hpp>

#include "loop/loop.hpp"
#include "redis/command.hpp"

namespace w8y::store {

namespace {

/// Hosts that are asked for in one command, and shown at all.
constexpr std::size_t hosts_at_once = 250;
constexpr std::size_t most_hosts = 10'000;
/// Lists of so many hosts are read side by side.
constexpr std::size_t hosts_side_by_side = 16;
constexpr const char* scanned_at_once = "1000";
/// Of a host; and of all hosts what is remembered for the next look.
constexpr std::size_t most_lists = 100'000;
constexpr std::size_t most_known = 200'000;
/// Nobody has a longer id: names are shorter.
constexpr std::size_t longest_id = 512;

std::string score_text(WallTime time) {
  return std::to_string(time.count());
}

}  // namespace

struct FleetReader::Round {
  Lists lists = Lists::no;
  std::vector<Then> waiting;
  std::shared_ptr<FleetView> view = std::make_shared<FleetView>();
  std::size_t asked_hosts = 0;  ///< members of the zset that were looked at
  std::size_t missing = 0;      ///< beats
  std::deque<std::size_t> to_scan;
  std::size_t scanning = 0;
  bool over = false;
};

FleetReader::FleetReader(loop::Loop& loop, redis::Client& client, const std::string& fleet,
                         bool cluster)
    : loop_(loop),
      client_(client),
      fleet_(fleet),
      keys_(fleet),
      cluster_(cluster),
      begin_(loop.timers()) {}

FleetReader::~FleetReader() = default;

void FleetReader::read(Lists lists, Then then) {
  later_.emplace_back(lists, std::move(then));
  if (!round_ && !begin_.pending()) begin_.set(loop_.now(), [this] { begin(); });
}

void FleetReader::begin() {
  if (round_ || later_.empty()) return;
  round_ = std::make_shared<Round>();
  for (auto& [lists, then] : std::exchange(later_, {})) {
    if (lists == Lists::yes) round_->lists = Lists::yes;
    round_->waiting.push_back(std::move(then));
  }
  round_->view->fleet = fleet_;
  ask_time(round_);
}

void FleetReader::call(const RoundPtr& round, const redis::Command& command, const std::string& key,
                       std::function<void(const redis::Answer&)> look) {
  client_.call(command, [this, alive = std::weak_ptr<Round>(round), key,
                         look = std::move(look)](const redis::Answer& answer) {
    const auto asked = alive.lock();  // gone with the reader
    if (!asked || asked->over) return;
    if (answer.failure != redis::Failure::none) return fail(asked, answer, key);
    look(answer);
  });
}

/// The key goes before: in a cluster, TIME is asked where it is.
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

/// Scores that no beat can have are not looked at, however many there are.
void FleetReader::ask_hosts(const RoundPtr& round) {
  const WallTime life = std::chrono::duration_cast<WallTime>(beat_life);
  const std::string newest = score_text(round->view->now + life);
  const std::string oldest = "(" + score_text(round->view->now - life);
  const std::string offset = std::to_string(round->asked_hosts);
  const std::string count = std::to_string(hosts_at_once);
  call(round,
       {"ZREVRANGEBYSCORE", keys_.hosts, newest, oldest, "WITHSCORES", "LIMIT", offset, count},
       keys_.hosts, [this](const redis::Answer& answer) {
         if (!answer.ok()) return fail(round_, answer, keys_.hosts);
         take_hosts(round_, answer);
       });
}

void FleetReader::take_hosts(const RoundPtr& round, const redis::Answer& answer) {
  FleetView& view = *round->view;
  const std::size_t found = answer.reply.size() / 2;
  for (std::size_t i = 0; i < found; ++i) {
    const std::string_view id = answer.reply[2 * i].text();
    if (id.empty() || id.size() > longest_id) continue;
    FleetHost& host = view.hosts.emplace_back();
    host.beat.id = id;
    host.beat.host = name_in_host_id(id);
    const double score = read_real(answer.reply[2 * i + 1].text()).value_or(0);
    host.last_beat = read_ms(score).value_or(WallTime{0});
    host.trouble = "it has no beat";
  }
  round->asked_hosts += found;
  if (found < hosts_at_once) return ask_beats(round);
  if (round->asked_hosts < most_hosts) return ask_hosts(round);
  view.cut = true;
  ask_beats(round);
}

void FleetReader::ask_beats(const RoundPtr& round) {
  const std::size_t count = round->view->hosts.size();
  if (count == 0) return finish(round);
  round->missing = count;
  for (std::size_t first = 0; first < count; first += hosts_at_once)
    ask_beats(round, first, std::min(count, first + hosts_at_once));
}

void FleetReader::ask_beats(const RoundPtr& round, std::size_t first, std::size_t end) {
  std::vector<std::string> keys;
  for (std::size_t i = first; i < end; ++i)
    keys.push_back(keys_.host(round->view->hosts[i].beat.id));
  const std::string all = keys_.host_prefix + "*";
  if (!cluster_) {
    redis::Command get{"MGET"};
    get.insert(get.end(), keys.begin(), keys.end());
    return call(round, get, all, [this, all, first, end](const redis::Answer& answer) {
      if (!answer.ok()) return fail(round_, answer, all);
      for (std::size_t i = first; i < end; ++i) take_beat(round_, i, answer.reply[i - first]);
    });
  }
  // Values that are longer than a beat are looked at no further than that.
  const std::string last = std::to_string(max_beat);
  for (std::size_t i = first; i < end; ++i)
    call(round, {"GETRANGE", keys[i - first], "0", last}, keys[i - first],
         [this, i](const redis::Answer& answer) { take_beat(round_, i, answer.reply); });
}

void FleetReader::take_beat(const RoundPtr& round, std::size_t at, const redis::Reply& reply) {
  FleetHost& host = round->view->hosts[at];
  if (reply.is_error()) {
    host.trouble = "its beat can't be read: " + std::string(reply.text().substr(0, 200));
  } else if (!reply.is_string() || reply.text().empty()) {
    host.trouble = "it has no beat";
  } else if (auto beat = parse_beat(reply.text())) {
    beat->id = std::move(host.beat.id);
    host.beat = std::move(*beat);
    host.trouble.clear();
  } else {
    host.trouble = "what stands for its beat is none";
  }
  if (--round->missing == 0) ask_lists(round);
}

void FleetReader::ask_lists(const RoundPtr& round) {
  if (round->lists == Lists::no) return finish(round);
  auto& hosts = round->view->hosts;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].trouble.empty()) continue;
    const auto known = known_.find(hosts[i].beat.id);
    if (known != known_.end() && known->second.version == hosts[i].beat.lists_version) {
      hosts[i].lists = known->second.lists;
    } else {
      round->to_scan.push_back(i);
    }
  }
  if (round->to_scan.empty()) return finish(round);
  while (!round->to_scan.empty() && round->scanning < hosts_side_by_side) {
    ++round->scanning;
    const std::size_t host = round->to_scan.front();
    round->to_scan.pop_front();
    scan_lists(round, host, "0");
  }
}

void FleetReader::scan_lists(const RoundPtr& round, std::size_t host, const std::string& cursor) {
  const std::string key = keys_.lists(round->view->hosts[host].beat.id);
  call(round, {"HSCAN", key, cursor, "COUNT", scanned_at_once}, key,
       [this, host](const redis::Answer& answer) { take_lists(round_, host, answer); });
}

void FleetReader::take_lists(const RoundPtr& round, std::size_t at, const redis::Answer& answer) {
  FleetHost& host = round->view->hosts[at];
  if (!answer.ok() || answer.reply.size() != 2) {
    host.lists_trouble = "its lists can't be read: " + answer.problem().substr(0, 200);
    return lists_known(round, at);
  }
  const redis::Reply fields = answer.reply[1];
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (auto list = parse_list_beat(fields[i].text(), fields[i + 1].text())) {
      host.lists.push_back(std::move(*list));
    } else {
      host.lists_trouble = "what is told of some of its lists can't be read";
    }
  }
  const std::string cursor(answer.reply[0].text());
  if (cursor == "0") return lists_known(round, at);
  if (host.lists.size() < most_lists) return scan_lists(round, at, cursor);
  host.lists_trouble = "it has too many lists to be shown";
  lists_known(round, at);
}

void FleetReader::lists_known(const RoundPtr& round, std::size_t at) {
  FleetHost& host = round->view->hosts[at];
  const auto by_prefix = [](const ListBeat& a, const ListBeat& b) { return a.prefix < b.prefix; };
  std::sort(host.lists.begin(), host.lists.end(), by_prefix);
  // A field that moves while it is scanned may be told twice.
  const auto same = [](const ListBeat& a, const ListBeat& b) { return a.prefix == b.prefix; };
  host.lists.erase(std::unique(host.lists.begin(), host.lists.end(), same), host.lists.end());
  if (!round->to_scan.empty()) {
    const std::size_t next = round->to_scan.front();
    round->to_scan.pop_front();
    return scan_lists(round, next, "0");
  }
  if (--round->scanning == 0) finish(round);
}

void FleetReader::finish(const RoundPtr& round) {
  // In a cluster, a beat may be seen before what it tells of lists.
  if (round->lists == Lists::yes && round->view->trouble.empty() && !cluster_) {
    known_.clear();
    std::size_t known = 0;
    for (const FleetHost& host : round->view->hosts) {
      known += host.lists.size() + 1;
      if (known > most_known) break;
      if (host.trouble.empty() && host.lists_trouble.empty())
        known_[host.beat.id] = {host.beat.lists_version, host.lists};
    }
  }
  judge(*round->view);
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
  view.trouble = view.unreachable ? "Redis can't be asked: " + answer.problem()
                                  : key + ": " + answer.problem();
  finish(round);
}

}  // namespace w8y::store
