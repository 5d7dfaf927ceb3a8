// Files of the zone database: TZif, RFC 8536.

#include "schedule/zone.hpp"

namespace w8y::schedule {

namespace {

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  bool has(std::size_t count) const { return count <= rest_.size(); }
  std::string_view read(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }
  /// Reads a big-endian number; the sign is its first bit.
  std::int64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view taken = read(bytes);
    if (!taken.empty() && (static_cast<unsigned char>(taken[0]) & 0x80U) != 0) value = ~value;
    for (const char c : taken) value = (value << 8) | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string_view rest_;
};

struct Header {
  char version = 0;
  std::size_t utc_marks = 0, standard_marks = 0, leaps = 0, changes = 0, types = 0, letters = 0;

  /// Size of the data after the header, where a time has `width` bytes.
  std::size_t size(std::size_t width) const {
    return changes * (width + 1) + types * 6 + letters + leaps * (width + 4) + standard_marks +
           utc_marks;
  }
};

std::optional<Header> read_header(Bytes& bytes) {
  if (!bytes.has(44) || bytes.read(4) != "TZif") return {};
  Header header;
  header.version = bytes.read(1)[0];
  bytes.read(15);
  for (std::size_t* count : {&header.utc_marks, &header.standard_marks, &header.leaps,
                             &header.changes, &header.types, &header.letters}) {
    const std::int64_t value = bytes.number(4);
    if (value < 0 || value > 0xFFFF) return {};
    *count = static_cast<std::size_t>(value);
  }
  return header;
}

}  // namespace

std::optional<ZoneData> read_zone_data(std::string_view file) {
  Bytes bytes(file);
  const auto old = read_header(bytes);
  if (!old || old->version < '2' || !bytes.has(old->size(4))) return {};
  bytes.read(old->size(4));
  const auto header = read_header(bytes);
  if (!header || header->types == 0 || !bytes.has(header->size(8))) return {};
  ZoneData data;
  data.changes.resize(header->changes);
  for (auto& change : data.changes) change.at = bytes.number(8);
  Bytes kinds(bytes.read(header->changes));
  std::vector<int> offsets(header->types);
  for (int& offset : offsets) {
    offset = static_cast<int>(bytes.number(4));
    bytes.read(2);
  }
  data.first_offset = offsets[0];
  for (auto& change : data.changes) {
    const auto kind = static_cast<std::size_t>(kinds.number(1) & 0xFF);
    if (kind >= offsets.size()) return {};
    change.offset = offsets[kind];
  }
  bytes.read(header->size(8) - header->changes * 9 - header->types * 6);
  std::string_view rule = bytes.rest();
  if (rule.size() >= 2 && rule.front() == '\n' && rule.back() == '\n')
    data.later = read_zone_rule(rule.substr(1, rule.size() - 2));
  return data;
}

}  // namespace w8y::schedule
