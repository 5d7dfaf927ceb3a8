// Table of the Redis commands of the model, and their common parts.
#include "simulation/commands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "simulation/random.hpp"

namespace w8y::sim {

namespace {

constexpr const char* wrong_kind =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
/// Maximum size of a hash or set that is stored in one piece, and scanned in one page.
constexpr std::size_t max_piece = 128;

std::string in_capitals(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

std::string in_small(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

using CommandTable = std::map<std::string, const CommandInfo*, std::less<>>;

CommandTable table_of_commands() {
  CommandTable table;
  for (const auto commands : {key_commands(), text_commands(), list_commands(), hash_commands(),
                              set_commands(), sorted_set_commands(), transaction_commands()})
    for (const CommandInfo& info : commands) table.emplace(info.name, &info);
  return table;
}

}  // namespace

const CommandInfo* command_of(std::string_view name) {
  static const CommandTable table = table_of_commands();
  auto found = table.find(name);
  if (found == table.end()) found = table.find(in_capitals(name));
  return found == table.end() ? nullptr : found->second;
}

std::string wrong_count_of(const CommandInfo& info, const Words& words) {
  const int count = static_cast<int>(words.size());
  if (info.words >= 0 ? count == info.words : count >= -info.words) return {};
  return "ERR wrong number of arguments for '" + in_small(info.name) + "' command";
}

Value run_command(const CommandInfo& info, const CommandCall& call) {
  if (std::string why = wrong_count_of(info, call.words); !why.empty())
    return Value::error(std::move(why));
  try {
    return info.run(call);
  } catch (const WrongType&) {
    return Value::error(wrong_kind);
  } catch (const CommandError& error) {
    return Value::error(error.what());
  }
}

std::optional<std::int64_t> strict_integer(const std::string& text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), nullptr, 10);
  // Any other notation is not an integer.
  return errno == 0 && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

std::int64_t integer_word(const std::string& text) {
  if (const auto number = strict_integer(text)) return *number;
  throw CommandError("ERR value is not an integer or out of range");
}

std::optional<double> strict_double(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.front() == '\t') return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || std::isnan(number)) return std::nullopt;
  return number;
}

std::optional<std::pair<std::size_t, std::size_t>> range_within(std::int64_t first,
                                                                std::int64_t last,
                                                                std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(first + length, 0);
  if (last < 0) last += length;
  last = std::min(last, length - 1);
  if (first > last || last < 0) return std::nullopt;
  return std::pair(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
}

std::int64_t sum_of_texts(const std::string& text, std::int64_t by, const char* not_integer) {
  const auto number = strict_integer(text);
  if (!number) throw CommandError(not_integer);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  if ((by > 0 && *number > most - by) || (by < 0 && *number < least - by))
    throw CommandError("ERR increment or decrement would overflow");
  return *number + by;
}

Value bulk_array(Words words) {
  std::vector<Value> elements;
  elements.reserve(words.size());
  for (std::string& word : words) elements.push_back(Value::of(std::move(word)));
  return Value::array(std::move(elements));
}

ScanPage scan_page(const CommandCall& call, const std::vector<std::string>& names) {
  if (names.size() <= max_piece) return {names, "0"};
  std::int64_t count = 10;
  for (std::size_t i = 3; i + 1 < call.words.size(); ++i)
    if (in_capitals(call.words[i]) == "COUNT") count = integer_word(call.words[i + 1]);
  // The order does not change when elements are added or removed. The cursor is a position in it.
  const auto place = [](const std::string& name) { return (hash_of(name) & 0xFFFFFFFFU) | 1U; };
  std::vector<std::pair<std::uint64_t, std::string>> order;
  const auto from = static_cast<std::uint64_t>(integer_word(call.words[2]));
  for (const std::string& name : names)
    if (place(name) >= from) order.emplace_back(place(name), name);
  std::sort(order.begin(), order.end());
  ScanPage page{{}, "0"};
  for (const auto& [at, name] : order) {
    if (std::ssize(page.names) >= count && at != place(page.names.back())) {
      page.next = std::to_string(at);
      break;
    }
    page.names.push_back(name);
  }
  return page;
}

}  // namespace w8y::sim
