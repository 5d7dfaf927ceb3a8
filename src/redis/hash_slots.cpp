#include "redis/hash_slots.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace w8y::redis {

namespace {

/// CRC-16/XMODEM, as the specification of Redis Cluster requires.
constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < table.size(); ++i) {
    unsigned crc = i << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr auto crc_table = make_crc_table();

std::uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char c : bytes)
    crc = (crc << 8U) ^ crc_table[((crc >> 8U) ^ static_cast<unsigned char>(c)) & 0xffU];
  return static_cast<std::uint16_t>(crc);
}

std::optional<std::string_view> hash_tag(std::string_view key) {
  const auto open = key.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  const auto close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return std::nullopt;
  return key.substr(open + 1, close - open - 1);
}

/// Commands without a key that w8y sends.
constexpr std::array<std::string_view, 19> keyless = {
    "ACL",   "ASKING",  "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE",
    "DEBUG", "DISCARD", "EXEC",   "INFO",    "KEYS",    "MULTI",  "PING",
    "RESET", "ROLE",    "SCAN",   "SCRIPT",  "TIME"};

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return !text.empty() && stop == end && error == std::errc{};
}

/// Whether the host is empty or "?", which a server sends that does not know its own host.
bool unsaid(const std::string& host) {
  return host.empty() || host == "?";
}

std::optional<HostPort> read_place(const HostPort& asked, const ReplyCopy& node) {
  if (node.elements.size() < 2) return std::nullopt;
  const std::int64_t port = node.elements[1].number;
  if (port <= 0 || port > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
  const std::string& host = node.elements[0].text;
  return HostPort{unsaid(host) ? asked.host : host, static_cast<std::uint16_t>(port)};
}

}  // namespace

Slot slot_of(std::string_view key) {
  return static_cast<Slot>(crc16(hash_tag(key).value_or(key)) % slot_count);
}

bool has_hash_tag(std::string_view prefix) {
  return hash_tag(prefix).has_value();
}

std::optional<std::string_view> key_of(const Command& command) {
  if (command.size() < 2) return std::nullopt;
  const std::string_view name = command.front();
  if (name == "EVAL" || name == "EVALSHA") {
    if (command.size() < 4 || command[2] == "0") return std::nullopt;
    return command[3];
  }
  if (std::ranges::find(keyless, name) != keyless.end()) return std::nullopt;
  return command[1];
}

const HostPort* SlotMap::primary(Slot slot) const {
  if (slot >= primaries_.size() || primaries_[slot] == nobody) return nullptr;
  return &nodes_[primaries_[slot]];
}

void SlotMap::set(Slot slot, const HostPort& primary) {
  if (slot >= slot_count) return;
  if (primaries_.empty()) primaries_.assign(slot_count, nobody);
  primaries_[slot] = number_of(primary);
}

std::optional<Slot> SlotMap::any_served() const {
  const auto found = std::ranges::find_if(primaries_, [](auto number) { return number != nobody; });
  if (found == primaries_.end()) return std::nullopt;
  return static_cast<Slot>(found - primaries_.begin());
}

std::uint16_t SlotMap::number_of(const HostPort& place) {
  const auto found = std::ranges::find(nodes_, place);
  const auto number = static_cast<std::uint16_t>(found - nodes_.begin());
  if (found == nodes_.end() && nodes_.size() < nobody) nodes_.push_back(place);
  return number;
}

std::string read_slots(const HostPort& asked, const ReplyCopy& reply, SlotMap& map) {
  if (reply.is_error()) return reply.text;
  SlotMap read;
  read.primaries_.assign(slot_count, SlotMap::nobody);
  for (const ReplyCopy& range : reply.elements) {
    if (range.elements.size() < 3) return "its reply to CLUSTER SLOTS cannot be read";
    const std::int64_t first = range.elements[0].number;
    const std::int64_t last = range.elements[1].number;
    const auto primary = read_place(asked, range.elements[2]);
    if (!primary || first < 0 || last < first || last >= static_cast<std::int64_t>(slot_count))
      return "its reply to CLUSTER SLOTS cannot be read";
    std::fill(read.primaries_.begin() + first, read.primaries_.begin() + last + 1,
              read.number_of(*primary));
    for (std::size_t i = 3; i < range.elements.size(); ++i)
      if (const auto replica = read_place(asked, range.elements[i])) read.number_of(*replica);
  }
  if (read.nodes_.empty()) return "no hash slot of this cluster is served";
  map = std::move(read);
  return {};
}

std::vector<std::vector<std::string>> cluster_questions() {
  return {{"CLUSTER", "INFO"}, {"CLUSTER", "SLOTS"}};
}

std::string read_cluster(const HostPort& asked, const std::vector<ReplyCopy>& answers,
                         SlotMap& map) {
  if (answers.size() != 2) return "invalid reply";
  // If an ACL refuses CLUSTER INFO, the map is used unchecked.
  if (answers[0].text.find("cluster_state:fail") != std::string::npos)
    return "the cluster is down (cluster_state:fail)";
  return read_slots(asked, answers[1], map);
}

std::optional<HostPort> redirected_to(std::string_view error, const HostPort& sender) {
  const auto space = error.find(' ', error.find(' ') + 1);
  const auto colon = error.rfind(':');  // the host may be an IPv6 address without brackets
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
    return std::nullopt;
  HostPort place{std::string(error.substr(space + 1, colon - space - 1)), 0};
  if (!read_number(error.substr(colon + 1), place.port) || place.port == 0) return std::nullopt;
  if (unsaid(place.host)) place.host = sender.host;
  return place;
}

}  // namespace w8y::redis
