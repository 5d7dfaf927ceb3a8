// The keys of a Redis, as far as w8y uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace w8y::sim {

using List = std::deque<std::string>;
using Hash = std::map<std::string, std::string>;
using Set = std::set<std::string>;

class SortedSet {
 public:
  /// False: it was there already.
  bool add(const std::string& member, double score);
  bool remove(const std::string& member);
  [[nodiscard]] std::optional<double> score(const std::string& member) const;
  [[nodiscard]] std::optional<std::size_t> rank(const std::string& member) const;
  [[nodiscard]] const std::set<std::pair<double, std::string>>& order() const { return order_; }
  [[nodiscard]] std::size_t size() const { return order_.size(); }

 private:
  std::map<std::string, double> scores_;
  std::set<std::pair<double, std::string>> order_;
};

/// A key of another type than it is used as.
struct WrongType {};

class Keys {
 public:
  struct Entry {
    std::variant<std::string, List, Hash, SortedSet, Set> value;
    std::optional<std::int64_t> expires_ms;
  };

  /// Told of each change of a key, in the words of Redis's keyspace events.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void touched(const std::string& key, const char* event) = 0;
    /// How many subscribers a channel has.
    [[nodiscard]] virtual std::int64_t hearers(const std::string& channel) const = 0;
  };
  Listener* listener = nullptr;
  void tell(const std::string& key, const char* event) const {
    if (listener != nullptr) listener->touched(key, event);
  }

  /// Scores are written with as few digits as tell them apart, as Redis does since 7.2; else with
  /// 17.
  bool short_scores = false;
  [[nodiscard]] std::string score_text(double score) const;

  /// By the server's clock, in µs since 1970; set before each command.
  std::int64_t now_us = 0;
  // Keys, since the beginning.
  std::uint64_t looked_up = 0;
  std::uint64_t written = 0;
  [[nodiscard]] std::int64_t now_ms() const { return now_us / 1000; }

  /// Each throws WrongType. A null pointer: there is no such key.
  template <typename Type>
  Type* find(const std::string& key) {
    Entry* entry = look(key);
    if (entry == nullptr) return nullptr;
    if (auto* value = std::get_if<Type>(&entry->value)) return value;
    throw WrongType();
  }
  /// Made if it is not there.
  template <typename Type>
  Type& get(const std::string& key) {
    ++written;
    if (Type* value = find<Type>(key)) return *value;
    return std::get<Type>(
        entries_.insert_or_assign(key, Entry{Type(), std::nullopt}).first->second.value);
  }
  bool exists(const std::string& key) { return look(key) != nullptr; }
  bool remove(const std::string& key);
  /// "list", "none", as TYPE says it.
  const char* type(const std::string& key);
  /// What is empty is not there.
  void sweep(const std::string& key);
  /// Told of, too: something was taken from it.
  void shrunk(const std::string& key, const char* event) {
    tell(key, event);
    sweep(key);
  }
  /// In ms; -1: for good, -2: no such key.
  std::int64_t ttl(const std::string& key);
  bool expire(const std::string& key, std::int64_t life_ms);
  /// `life_ms`: nullopt: for good. False: `if_new`, and it is there.
  bool set(const std::string& key, const std::string& value, std::optional<std::int64_t> life_ms,
           bool if_new);
  std::string range(const std::string& key, std::size_t first, std::size_t last);

  /// All that are not expired, by name.
  std::map<std::string, const Entry*> all();
  void clear() { entries_.clear(); }

 private:
  Entry* look(const std::string& key);

  /// Of names of any length: some of w8y's hold items of 16 MiB.
  struct Hasher {
    std::size_t operator()(std::string_view name) const {
      constexpr std::size_t end = 64;
      if (name.size() <= 2 * end) return std::hash<std::string_view>()(name);
      return std::hash<std::string_view>()(name.substr(0, end)) ^
             (std::hash<std::string_view>()(name.substr(name.size() - end)) + name.size());
    }
  };
  std::unordered_map<std::string, Entry, Hasher> entries_;  ///< half a million, of 100,000 lists
};

std::int64_t number(const std::string& text);
bool has_field(Keys& keys, const std::string& hash, const std::string& field);
std::int64_t failures_of(Keys& keys, const std::string& failures, const std::string& item);

}  // namespace w8y::sim
