// Base class for every kind of work: forwards the callbacks of the store about held claims to the
// handler of the source.
#pragma once

#include <string>

#include "core/source.hpp"

namespace w8y::source {

/// `StoreHandler`: the interface in src/store for the callbacks of one kind of work, derived from
/// ClaimHandler.
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
