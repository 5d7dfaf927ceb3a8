#include "store/lost_takes.hpp"

#include <utility>

namespace w8y::store {

LostTakes::LostTakes(RedisSession& session, std::function<void()> looked)
    : session_(session), looked_(std::move(looked)), again_(session.timers) {}

void LostTakes::add(const std::string& prefix, RecoverCall call,
                    const std::vector<std::string>& runs, Instant until) {
  std::erase_if(places_, [](const auto& each) {
    return each.second.recovery.lost_takes() == 0 && !each.second.recovery.looking();
  });
  const auto [place, made] = places_.try_emplace(prefix, session_, std::move(call));
  place->second.recovery.lost(runs, until);
  look();
}

void LostTakes::look() {
  for (auto& [prefix, place] : places_) {
    if (place.recovery.lost_takes() == 0 || place.recovery.looking()) continue;
    place.recovery.look(place.call, [this](std::size_t, std::optional<Duration>) {
      if (size() > 0) again_.set(session_.clock.now() + pause, [this] { look(); });
      looked_();
    });
  }
}

std::size_t LostTakes::size() const {
  std::size_t all = 0;
  for (const auto& [prefix, place] : places_) all += place.recovery.lost_takes();
  return all;
}

}  // namespace w8y::store
