// Looks at a fleet: all beats, and what they tell of lists.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <w8y/fleet.hpp>
#include <w8y/timers.hpp>

#include "redis/client.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::store {

/// Asks when somebody looks, never by itself. Many who ask at once share an answer. Lists that have
/// not changed since the last look are not read again.
class FleetReader {
 public:
  using ViewPtr = std::shared_ptr<const FleetView>;
  using Then = std::function<void(const ViewPtr&)>;
  enum class Lists { no, yes };

  /// `cluster`: keys may be on different nodes.
  FleetReader(loop::Loop& loop, redis::Client& client, const std::string& fleet, bool cluster);
  ~FleetReader();
  FleetReader(const FleetReader&) = delete;
  FleetReader& operator=(const FleetReader&) = delete;

  /// `then` is called once, from the loop; dropped with the reader.
  void read(Lists lists, Then then);

 private:
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;
  struct Known {
    std::uint64_t version = 0;
    std::vector<ListBeat> lists;
  };

  void begin();
  void begin_round(Lists lists, std::vector<Then> waiting);
  void ask_time(const RoundPtr& round);
  void ask_hosts(const RoundPtr& round);
  void take_hosts(const RoundPtr& round, const redis::Answer& answer);
  void ask_beats(const RoundPtr& round);
  void ask_beats(const RoundPtr& round, std::size_t first, std::size_t end);
  void take_beat(const RoundPtr& round, std::size_t host, const redis::Reply& reply);
  void ask_lists(const RoundPtr& round);
  void scan_lists(const RoundPtr& round, std::size_t host, const std::string& cursor);
  void take_lists(const RoundPtr& round, std::size_t host, const redis::Answer& answer);
  void lists_known(const RoundPtr& round, std::size_t host);
  void finish(const RoundPtr& round);
  void fail(const RoundPtr& round, const redis::Answer& answer, const std::string& key);
  void call(const RoundPtr& round, const redis::Command& command, const std::string& key,
            std::function<void(const redis::Answer&)> look);

  loop::Loop& loop_;
  redis::Client& client_;
  const std::string fleet_;
  const FleetKeys keys_;
  const bool cluster_;
  RoundPtr round_;
  std::vector<std::pair<Lists, Then>> later_;
  Timer begin_;
  std::map<std::string, Known> known_;  ///< by host id
};

}  // namespace w8y::store
