// When a feed of jobs is looked after: at once where the lease of a host that is gone is over, and
// each `maintenance_interval` by one host of the fleet. Also by a host that refuses the list.
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
    entering,  ///< waits until few enough lists are at their first look
    asking,    ///< a call is out
    waiting,   ///< for a time
  };
  /// How often it is looked for claims whose host is gone, if none is known to be over sooner.
  static constexpr Duration recover_pause = std::chrono::seconds(5);
  static constexpr Duration least_recover_pause = std::chrono::milliseconds(250);
  /// Who waits for a time has no use for its turn before.
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
  bool again_ = false;  ///< Redis came back while a call was out
  Instant recover_at_{};
  Instant maintain_at_{};
  std::string trouble_;
  std::unique_ptr<store::thoonk::JobCare> care_;
};

}  // namespace w8y::source
