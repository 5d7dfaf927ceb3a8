#include "source/lost_claims.hpp"

#include <algorithm>
#include <utility>

namespace w8y::source {

LostClaims::LostClaims(RedisLink& link, std::function<void()> none_left)
    : link_(link),
      none_left_(std::move(none_left)),
      timer_(link.timers),
      alive_(std::make_shared<bool>(true)) {}

LostClaims::~LostClaims() {
  *alive_ = false;
}

void LostClaims::add(std::shared_ptr<const CircularKeys> keys,
                     const std::vector<std::string>& values, Duration expiry) {
  lost_.emplace(++last_id_, Lost{std::move(keys), values, link_.clock.now() + expiry});
  arm();
}

void LostClaims::look() {
  for (auto& [id, lost] : lost_) {
    lost.pass = ++passes_;
    lost.looked = 0;
    step(id, lost);
  }
}

LostClaims::Lost* LostClaims::of_pass(Id id, std::uint64_t pass) {
  const auto lost = lost_.find(id);
  return lost != lost_.end() && lost->second.pass == pass ? &lost->second : nullptr;
}

void LostClaims::step(Id id, const Lost& lost) {
  const std::string from = std::to_string(-(lost.looked + items_per_step));
  const std::string to = std::to_string(-(lost.looked + 1));
  link_.client.call({"LRANGE", lost.keys->list, from, to},
                    [this, alive = alive_, id, pass = lost.pass](const redis::Answer& answer) {
                      if (!*alive) return;
                      const Lost* still = of_pass(id, pass);
                      // If the connection has broken again, the next one begins anew.
                      if (still == nullptr || answer.failure != redis::Failure::none) return;
                      std::vector<std::string> items;
                      for (std::size_t i = 0; i < answer.reply.size(); ++i)
                        items.emplace_back(answer.reply[i].text());
                      if (items.empty()) return forget(id);
                      compare(id, *still, items);
                    });
}

void LostClaims::compare(Id id, const Lost& lost, const std::vector<std::string>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const std::string& item : items) names.push_back(lost.keys->lock(item));
  redis::Command command{"MGET"};
  command.insert(command.end(), names.begin(), names.end());
  link_.client.call(
      command, [this, alive = alive_, id, pass = lost.pass, items](const redis::Answer& answer) {
        if (!*alive) return;
        Lost* still = of_pass(id, pass);
        if (still == nullptr || answer.failure != redis::Failure::none) return;
        for (std::size_t i = 0; i < items.size(); ++i)
          found(*still, items[i], std::string(answer.reply[i].text()));
        still->looked += static_cast<std::int64_t>(items.size());
        const bool whole_list = items.size() < static_cast<std::size_t>(items_per_step);
        if (still->values.empty() || whole_list || !answer.ok()) return forget(id);
        step(id, *still);
      });
}

void LostClaims::found(Lost& lost, const std::string& item, const std::string& value) {
  const auto ours = std::find(lost.values.begin(), lost.values.end(), value);
  if (value.empty() || ours == lost.values.end()) return;
  SettleCall call;
  call.lock = lost.keys->lock(item);
  call.value = value;
  call.failures = "keep";
  call.item = item;
  call.run = value.substr(value.rfind(':') + 1);
  lost.values.erase(ours);
  // Were this answer lost too, the lock would run out by itself.
  link_.locks->settle(*lost.keys, call, [](const Renewed*, const Trouble&) {});
}

void LostClaims::forget(Id id) {
  lost_.erase(id);
  arm();
  if (lost_.empty()) none_left_();
}

void LostClaims::arm() {
  if (lost_.empty()) return timer_.cancel();
  const auto first = std::min_element(lost_.begin(), lost_.end(), [](const auto& a, const auto& b) {
    return a.second.until < b.second.until;
  });
  timer_.set(first->second.until, [this, id = first->first] { forget(id); });
}

}  // namespace w8y::source
