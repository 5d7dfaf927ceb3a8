#include "source/lost_claims.hpp"

#include <algorithm>
#include <utility>

namespace w8y::source {

namespace {

constexpr Duration retry_pause = std::chrono::milliseconds(500);

}  // namespace

LostClaims::LostClaims(RedisLink& link, std::function<void()> none_left)
    : link_(link),
      none_left_(std::move(none_left)),
      timer_(link.timers),
      retry_(link.timers),
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
    if (lost.asking || lost.looked_at_all) continue;
    lost.looked = 0;
    step(id, lost);
  }
  if (!lost_.empty()) retry_.set(link_.clock.now() + retry_pause, [this] { look(); });
}

LostClaims::Lost* LostClaims::answered(Id id, const redis::Answer& answer) {
  const auto found = lost_.find(id);
  if (found == lost_.end()) return nullptr;
  found->second.asking = false;
  const bool told = answer.failure == redis::Failure::none && !is_about_server(answer.error());
  return told ? &found->second : nullptr;
}

void LostClaims::step(Id id, Lost& lost) {
  const std::string from = std::to_string(-(lost.looked + items_per_step));
  const std::string to = std::to_string(-(lost.looked + 1));
  lost.asking = true;
  link_.client.call({"LRANGE", lost.keys->list, from, to},
                    [this, alive = alive_, id](const redis::Answer& answer) {
                      if (!*alive) return;
                      Lost* still = answered(id, answer);
                      if (still == nullptr) return;
                      std::vector<std::string> items;
                      for (std::size_t i = 0; i < answer.reply.size(); ++i)
                        items.emplace_back(answer.reply[i].text());
                      if (items.empty()) return finish(id, *still);
                      compare(id, *still, items);
                    });
}

void LostClaims::compare(Id id, Lost& lost, const std::vector<std::string>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const std::string& item : items) names.push_back(lost.keys->lock(item));
  redis::Command command{"MGET"};
  command.insert(command.end(), names.begin(), names.end());
  lost.asking = true;
  link_.client.call(command, [this, alive = alive_, id, items](const redis::Answer& answer) {
    if (!*alive) return;
    Lost* still = answered(id, answer);
    if (still == nullptr) return;
    for (std::size_t i = 0; i < items.size(); ++i)
      found(id, *still, items[i], std::string(answer.reply[i].text()));
    still->looked += static_cast<std::int64_t>(items.size());
    const bool whole_list = items.size() < static_cast<std::size_t>(items_per_step);
    if (still->values.empty() || whole_list || !answer.ok()) return finish(id, *still);
    step(id, *still);
  });
}

void LostClaims::found(Id id, Lost& lost, const std::string& item, const std::string& value) {
  const auto ours = std::find(lost.values.begin(), lost.values.end(), value);
  if (value.empty() || ours == lost.values.end()) return;
  SettleCall call;
  call.lock = lost.keys->lock(item);
  call.value = value;
  call.failures = "keep";
  call.item = item;
  call.run = value.substr(value.rfind(':') + 1);
  lost.values.erase(ours);
  ++lost.releasing;
  // Were this answer lost too, the lock would run out by itself.
  link_.locks->settle(*lost.keys, {&call}, [this, alive = alive_, id](std::size_t, const Trouble*) {
    if (!*alive) return;
    const auto still = lost_.find(id);
    if (still == lost_.end()) return;
    --still->second.releasing;
    if (still->second.looked_at_all) finish(id, still->second);
  });
}

/// Over when what was found has been released too: whoever waits for us may end then.
void LostClaims::finish(Id id, Lost& lost) {
  lost.looked_at_all = true;
  if (lost.releasing == 0) forget(id);
}

void LostClaims::forget(Id id) {
  lost_.erase(id);
  arm();
  if (lost_.empty()) none_left_();
}

void LostClaims::arm() {
  if (lost_.empty()) {
    retry_.cancel();
    return timer_.cancel();
  }
  const auto first = std::min_element(lost_.begin(), lost_.end(), [](const auto& a, const auto& b) {
    return a.second.until < b.second.until;
  });
  timer_.set(first->second.until, [this, id = first->first] { forget(id); });
}

}  // namespace w8y::source
