#include "core/line_limits.hpp"

#include <algorithm>

namespace w8y {

bool LineLimit::admits(Instant now) {
  if (left_out_ > 0 && now < silent_until_) {
    ++left_out_;
    return false;
  }
  credit_ = std::min(credit_ + (now - counted_), most_);
  counted_ = now;
  if (credit_ < line_) {
    silent_until_ = now + pause;
    ++left_out_;
    return false;
  }
  credit_ -= line_;
  return true;
}

std::size_t LineLimit::drain_omitted() {
  return std::exchange(left_out_, 0);
}

bool LineLimit::rested(Instant now) const {
  return left_out_ == 0 && credit_ + (now - counted_) >= most_;
}

LineLimits::Answer LineLimits::admit(std::string_view talker) {
  const Instant now = clock_.now();
  auto found = all_.find(talker);
  if (found == all_.end()) {
    if (all_.size() >= sweep_at_) {
      std::erase_if(all_, [now](const auto& one) { return one.second.rested(now); });
      sweep_at_ = std::max(std::size_t{64}, 2 * all_.size());
    }
    found = all_.emplace(talker, LineLimit(now, rate_)).first;
  }
  LineLimit& limit = found->second;
  if (!limit.admits(now)) return {false, 0};
  return {true, limit.drain_omitted()};
}

std::size_t LineLimits::remove(std::string_view talker) {
  const auto found = all_.find(talker);
  if (found == all_.end()) return 0;
  const std::size_t left_out = found->second.left_out();
  all_.erase(found);
  return left_out;
}

std::vector<std::pair<std::string, std::size_t>> LineLimits::drain_omitted() {
  std::vector<std::pair<std::string, std::size_t>> left_out;
  for (auto& [talker, limit] : all_)
    if (const std::size_t count = limit.drain_omitted(); count > 0)
      left_out.emplace_back(talker, count);
  return left_out;
}

}  // namespace w8y
