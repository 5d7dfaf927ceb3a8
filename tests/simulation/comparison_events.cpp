// Comparison of keyspace notifications (notify-keyspace-events).
#include <algorithm>

#include "simulation/comparison.hpp"

namespace w8y::sim {

namespace {

constexpr const char* of_key = "__keyspace@0__:";
constexpr const char* of_event = "__keyevent@0__:";

/// Keys to which hosts subscribe, and keys on which any command is tried. The notifications of
/// other keys are not compared.
const Words& keys_told_of() {
  static const Words all{"w:list", "s-timeline", "p0", "p1", "p2", "p3", "p4", "p5"};
  return all;
}

bool is_told_of(const std::string& key) {
  const Words& all = keys_told_of();
  return key.starts_with("w:lock:") || std::find(all.begin(), all.end(), key) != all.end();
}

}  // namespace

Words Comparison::key_channels() {
  Words all;
  for (const std::string& key : keys_told_of()) all.push_back(of_key + key);
  for (int i = 0; i < 14; ++i)
    all.push_back(std::string(of_key) + "w:lock:item" + std::to_string(i));
  all.push_back(std::string(of_event) + "linsert");
  return all;
}

/// Switches keyspace notifications on or off. They are off while time passes.
void Comparison::set_keyspace_events(bool on) {
  keyspace_events_ = on;
  redis_.call({"CONFIG", "SET", "notify-keyspace-events", on ? "KEA" : ""});
}

void Comparison::touched(const std::string& key, const char* event) {
  if (keyspace_events_ && is_told_of(key)) published_.push_back({of_key + key, event});
  if (keyspace_events_ && event == std::string("linsert"))
    published_.push_back({std::string(of_event) + event, key});
}

}  // namespace w8y::sim
