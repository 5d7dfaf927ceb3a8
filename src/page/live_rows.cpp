#include "page/live_rows.hpp"

#include <utility>

#include "core/json_object.hpp"

namespace w8y::page {

namespace {

std::string object_with(const std::string& object, const std::string& addition) {
  return object.substr(0, object.size() - 1) + addition + "}";
}

}  // namespace

void LiveRows::change(std::size_t at, std::string object) {
  Row& row = rows_[at];
  row.object = std::move(object);
  if (!std::exchange(row.changed, true)) changed_.push_back(at);
}

void LiveRows::record(const std::string& name, std::string object) {
  const auto [place, is_new] = places_.try_emplace(name, rows_.size());
  if (is_new) rows_.push_back({name, {}, 0, false});
  rows_[place->second].iteration = iteration_;
  if (rows_[place->second].object != object) change(place->second, std::move(object));
}

void LiveRows::forget(const std::string& name) {
  const auto place = places_.find(name);
  if (place != places_.end() && !rows_[place->second].object.empty()) change(place->second, {});
}

void LiveRows::end_look() {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].iteration != iteration_ && !rows_[i].object.empty()) change(i, {});
}

std::string LiveRows::drain_changes(std::size_t most, const Addition& add) {
  std::string here;
  std::string gone;
  while (!changed_.empty() && here.size() + gone.size() < most) {
    Row& row = rows_[changed_.front()];
    changed_.pop_front();
    row.changed = false;
    if (row.object.empty()) {
      core::AsciiObject object(row.name.size() + 16);
      object.put_bytes("list", row.name);
      gone.append(gone.empty() ? "" : ",").append(object.finish());
    } else {
      here.append(here.empty() ? "" : ",").append(object_with(row.object, add(row.name)));
    }
  }
  std::string text;
  if (!here.empty()) text.append("\"lists\":[").append(here).append("]");
  if (!gone.empty()) text.append(text.empty() ? "" : ",").append("\"removed\":[" + gone + "]");
  return text;
}

std::string LiveRows::part(std::size_t& at, std::size_t most, const Addition& add) const {
  std::string text;
  for (; at < rows_.size() && text.size() < most; ++at) {
    if (rows_[at].object.empty()) continue;
    if (!text.empty()) text += ',';
    text += object_with(rows_[at].object, add(rows_[at].name));
  }
  return text;
}

}  // namespace w8y::page
