// Maintenance of a feed of jobs. Claims are recovered as soon as the lease of a dead host has
// ended. Other maintenance is done at each `maintenance_interval`, by one host of the fleet. A host
// that is ineligible for the list does it as well.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/list_maintenance.hpp"
#include "store/thoonk/job_care.hpp"

namespace w8y::source {

class JobUpkeep final : public ListMaintenance,
                        private store::thoonk::JobCareHandler,
                        private IdlePolls::Sleeper {
 public:
  using MakeCare =
      std::function<std::unique_ptr<store::thoonk::JobCare>(store::thoonk::JobCareHandler&)>;
  JobUpkeep(const Clock& clock, IdlePolls& idle, ListMaintenanceHandler& handler,
            const MakeCare& make, ListConfigPtr rule);
  ~JobUpkeep() override;

  void use(ListConfigPtr rule) override;

 private:
  enum class State {
    entering,  ///< waits for the admission of its first call
    asking,    ///< a call is in flight
    waiting,   ///< waits for a time
  };
  /// Maximum and minimum interval of searches for claims of dead hosts. The minimum applies if a
  /// lease is known to end.
  static constexpr Duration recover_pause = std::chrono::seconds(5);
  static constexpr Duration least_recover_pause = std::chrono::milliseconds(250);
  /// Interval factor: idle polls are not needed while a timer is set.
  static constexpr unsigned patience = 64;

  // store::thoonk::JobCareHandler
  void on_recovered(std::optional<Duration> next) override;
  void on_maintained(const store::thoonk::MaintenanceResult& result,
                     const std::string& trouble) override;
  void on_back() override;
  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void enter();
  void recover();
  void wait();

  const Clock& clock_;
  ListMaintenanceHandler& handler_;
  ListConfigPtr rule_;
  State state_ = State::entering;
  bool again_ = false;  ///< Redis became available again while a call was in flight
  Instant recover_at_{};
  Instant maintain_at_{};
  std::string trouble_;
  std::unique_ptr<store::thoonk::JobCare> care_;
};

}  // namespace w8y::source
