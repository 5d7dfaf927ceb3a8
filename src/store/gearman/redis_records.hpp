// Records of a Gearman list in Redis, with the same keys as other lists (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "store/circular/keys.hpp"
#include "store/gearman/records.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

class RedisGearmanRecords final : public GearmanRecords,
                                  private SessionUser,
                                  private redis::Client::Listener {
 public:
  RedisGearmanRecords(std::shared_ptr<RedisSession> session, GearmanRecordsHandler& handler);
  ~RedisGearmanRecords() override;

  void use(ListConfigPtr rule) override;
  [[nodiscard]] bool ready() const override { return ready_; }
  [[nodiscard]] const std::optional<std::string>& pause() const override { return pause_; }
  void announce(const RunEvent& event) override;
  void enter(EndedRun&& run) override;
  [[nodiscard]] std::size_t pending() const override;

 private:
  struct Entry {
    RunId run;
    std::string event;
    std::string more;
    HistoryLimits history = HistoryLimits::none();
    [[nodiscard]] std::size_t size() const { return event.size() + more.size(); }
  };

  void on_up() override;
  void on_down(const std::string& why) override;
  void ask_pause();
  void know_pause(std::optional<std::string> pause);
  void send_soon();
  void tell();
  void send();
  void written(const redis::Answer& answer);
  void note_refused(const std::string& why);

  GearmanRecordsHandler& handler_;
  ListConfigPtr rule_;
  std::optional<CircularKeys> keys_;
  bool ready_ = false;
  std::optional<std::string> pause_;
  Instant pause_until_ = Instant::max();
  std::uint64_t asked_ = 0;        ///< number of pause queries; only the reply to the last one is
                                   ///< used
  std::deque<Entry> entries_;      ///< run records that are not confirmed, the oldest first
  std::size_t bytes_ = 0;          ///< of these
  std::size_t sent_ = 0;           ///< number of these that are in flight
  bool again_ = false;             ///< the first of these may have been written before
  std::vector<std::string> news_;  ///< events that are not published yet
  std::size_t news_bytes_ = 0;
  std::string refused_;
  Timer pause_end_;
  Timer send_;
  redis::Subscription wake_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
