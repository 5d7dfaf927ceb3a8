// Passes callbacks of a store about held claims on to the handler of the source, for every kind of
// work.
#pragma once

#include <string>

#include "core/source.hpp"

namespace w8y::source {

/// `StoreHandler`: the handler of the kind's port in src/store; a ClaimHandler.
template <class StoreHandler>
class ClaimRelay : public StoreHandler {
 protected:
  explicit ClaimRelay(SourceHandler& handler) : handler_(handler) {}

  SourceHandler& handler_;

 private:
  void on_lease_lost(const RunId& run) final { handler_.on_lease_lost(run); }
  void on_lease_back(const RunId& run) final { handler_.on_lease_back(run); }
  void on_lease_expiring(const RunId& run) final { handler_.on_lease_expiring(run); }
  void on_given_up(const RunId& run, const std::string& why) final {
    handler_.on_given_up(run, why);
  }
  void on_quarantined(const DisplayItem& item, const std::string& why) final {
    handler_.on_quarantined(item, why);
  }
  void on_unwritten(const std::string& why) final { handler_.on_unwritten(why); }
  void on_all_settled() final { handler_.on_all_settled(); }
};

}  // namespace w8y::source
