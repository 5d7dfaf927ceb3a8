// Keys of a virtual Redis, of the types that w8y uses.
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
  /// Returns false if the set had the member already.
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

/// Thrown for a key that has another type than the operation needs.
struct WrongType {};

class Keys {
 public:
  struct Entry {
    std::variant<std::string, List, Hash, SortedSet, Set> value;
    std::optional<std::int64_t> expires_ms;
  };

  /// Called for each change of a key, with the event name of the keyspace notification.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void touched(const std::string& key, const char* event) = 0;
    /// Number of subscribers of a channel.
    [[nodiscard]] virtual std::int64_t hearers(const std::string& channel) const = 0;
  };
  Listener* listener = nullptr;
  void notify(const std::string& key, const char* event) const {
    if (listener != nullptr) listener->touched(key, event);
  }

  /// True: scores are printed with the fewest exact digits, as Redis does since 7.2. False: with 17
  /// digits.
  bool short_scores = false;
  [[nodiscard]] std::string score_text(double score) const;

  /// Time of the server in µs since 1970. Set before each command.
  std::int64_t now_us = 0;
  // Numbers of keys that commands have looked up and written since the start.
  std::uint64_t find_count = 0;
  std::uint64_t written = 0;
  [[nodiscard]] std::int64_t now_ms() const { return now_us / 1000; }

  /// Returns nullptr if there is no such key. Throws WrongType.
  template <typename Type>
  Type* find(const std::string& key) {
    Entry* entry = find_value(key);
    if (entry == nullptr) return nullptr;
    if (auto* value = std::get_if<Type>(&entry->value)) return value;
    throw WrongType();
  }
  /// Creates the key if it does not exist. Throws WrongType.
  template <typename Type>
  Type& get(const std::string& key) {
    ++written;
    if (Type* value = find<Type>(key)) return *value;
    return std::get<Type>(
        entries_.insert_or_assign(key, Entry{Type(), std::nullopt}).first->second.value);
  }
  bool exists(const std::string& key) { return find_value(key) != nullptr; }
  bool remove(const std::string& key);
  /// Moves a key with its expiry, and replaces another. Returns false if there is no such key.
  bool rename(const std::string& key, const std::string& to);
  /// Returns the reply to TYPE, such as "list" or "none".
  const char* type(const std::string& key);
  /// Removes the key if it is empty.
  void sweep(const std::string& key);
  /// Notifies the listener of a removal of elements, and removes the key if it is empty.
  void shrunk(const std::string& key, const char* event) {
    notify(key, event);
    sweep(key);
  }
  /// Returns the time to live in ms; -1: no expiry, -2: no such key.
  std::int64_t ttl(const std::string& key);
  bool expire(const std::string& key, std::int64_t life_ms);
  /// Sets a string. `life_ms` nullopt: no expiry. Returns false if `if_new` is set and the key
  /// exists.
  bool set(const std::string& key, const std::string& value, std::optional<std::int64_t> life_ms,
           bool if_new);
  std::string range(const std::string& key, std::size_t first, std::size_t last);

  /// Returns all keys that have not expired, by name.
  std::map<std::string, const Entry*> all();
  void clear() { entries_.clear(); }

 private:
  Entry* find_value(const std::string& key);

  /// Hash of names of any length. Names of locks contain items of up to 16 MiB.
  struct Hasher {
    std::size_t operator()(std::string_view name) const {
      constexpr std::size_t end = 64;
      if (name.size() <= 2 * end) return std::hash<std::string_view>()(name);
      return std::hash<std::string_view>()(name.substr(0, end)) ^
             (std::hash<std::string_view>()(name.substr(name.size() - end)) + name.size());
    }
  };
  std::unordered_map<std::string, Entry, Hasher> entries_;  ///< up to 500,000 for 100,000 lists
};

std::int64_t number(const std::string& text);
bool has_field(Keys& keys, const std::string& hash, const std::string& field);
std::int64_t failures_of(Keys& keys, const std::string& failures, const std::string& item);

}  // namespace w8y::sim
