#include "simulation/keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace w8y::sim {

std::string Keys::score_text(double score) const {
  if (std::isinf(score)) return score > 0 ? "inf" : "-inf";
  std::array<char, 512> text;
  if (short_scores) {
    const auto end = std::to_chars(text.begin(), text.end(), score, std::chars_format::fixed).ptr;
    return {text.begin(), end};
  }
  std::snprintf(text.data(), text.size(), "%.17g", score);
  return text.data();
}

bool SortedSet::add(const std::string& member, double score) {
  const auto [place, anew] = scores_.try_emplace(member, score);
  if (!anew) order_.erase({place->second, member});
  place->second = score;
  order_.emplace(score, member);
  return anew;
}

bool SortedSet::remove(const std::string& member) {
  const auto found = scores_.find(member);
  if (found == scores_.end()) return false;
  order_.erase({found->second, member});
  scores_.erase(found);
  return true;
}

std::optional<double> SortedSet::score(const std::string& member) const {
  const auto found = scores_.find(member);
  return found == scores_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> SortedSet::rank(const std::string& member) const {
  const auto found = scores_.find(member);
  if (found == scores_.end()) return std::nullopt;
  return static_cast<std::size_t>(
      std::distance(order_.begin(), order_.find({found->second, member})));
}

Keys::Entry* Keys::find_value(const std::string& key) {
  ++find_count;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (!found->second.expires_ms || *found->second.expires_ms > now_ms()) return &found->second;
  entries_.erase(found);
  notify(key, "expired");
  return nullptr;
}

bool Keys::remove(const std::string& key) {
  ++written;
  if (find_value(key) == nullptr) return false;
  entries_.erase(key);
  notify(key, "del");
  return true;
}

bool Keys::rename(const std::string& key, const std::string& to) {
  Entry* entry = find_value(key);
  if (entry == nullptr) return false;
  if (key == to) return true;
  ++written;
  Entry moved = std::move(*entry);
  entries_.erase(key);
  entries_.insert_or_assign(to, std::move(moved));
  notify(key, "rename_from");
  notify(to, "rename_to");
  return true;
}

const char* Keys::type(const std::string& key) {
  const Entry* entry = find_value(key);
  if (entry == nullptr) return "none";
  // Names of the types, in the order of the alternatives of Entry::value.
  static constexpr std::array<const char*, 5> names{"string", "list", "hash", "zset", "set"};
  return names[entry->value.index()];
}

void Keys::sweep(const std::string& key) {
  const Entry* entry = find_value(key);
  if (entry == nullptr) return;
  const bool empty = std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          return false;
        } else {
          return value.size() == 0;
        }
      },
      entry->value);
  if (!empty) return;
  entries_.erase(key);
  notify(key, "del");
}

std::int64_t Keys::ttl(const std::string& key) {
  const Entry* entry = find_value(key);
  if (entry == nullptr) return -2;
  return entry->expires_ms ? *entry->expires_ms - now_ms() : -1;
}

bool Keys::expire(const std::string& key, std::int64_t life_ms) {
  Entry* entry = find_value(key);
  if (entry == nullptr) return false;
  entry->expires_ms = now_ms() + life_ms;
  if (life_ms <= 0) entries_.erase(key);
  notify(key, life_ms <= 0 ? "del" : "expire");
  return true;
}

bool Keys::set(const std::string& key, const std::string& value,
               std::optional<std::int64_t> life_ms, bool if_new) {
  if (if_new && exists(key)) return false;
  ++written;
  Entry entry{value, std::nullopt};
  if (life_ms) entry.expires_ms = now_ms() + *life_ms;
  entries_.insert_or_assign(key, std::move(entry));
  notify(key, "set");
  if (life_ms) notify(key, "expire");
  return true;
}

std::string Keys::range(const std::string& key, std::size_t first, std::size_t last) {
  const auto* text = find<std::string>(key);
  if (text == nullptr || first >= text->size()) return {};
  return text->substr(first, last - first + 1);
}

std::map<std::string, const Keys::Entry*> Keys::all() {
  std::map<std::string, const Entry*> all;
  for (const auto& [key, entry] : entries_) all.emplace(key, &entry);
  std::erase_if(all, [this](const auto& each) { return find_value(each.first) == nullptr; });
  return all;
}

std::int64_t number(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

bool has_field(Keys& keys, const std::string& hash, const std::string& field) {
  const Hash* fields = keys.find<Hash>(hash);
  return fields != nullptr && fields->contains(field);
}

std::int64_t failures_of(Keys& keys, const std::string& failures, const std::string& item) {
  const Hash* counts = keys.find<Hash>(failures);
  if (counts == nullptr || !counts->contains(item)) return 0;
  return number(counts->at(item));
}

}  // namespace w8y::sim
