#include "simulation/gearman_packets.hpp"

namespace w8y::sim {

namespace {

constexpr std::size_t header_size = 12;

std::string big_endian(std::size_t number) {
  std::string bytes;
  for (unsigned shift = 32; shift > 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (shift - 8)));
  return bytes;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

std::string packet(std::string_view magic, Say type,
                   std::initializer_list<std::string_view> arguments) {
  std::string body;
  bool first = true;
  for (const std::string_view argument : arguments) {
    if (!first) body += '\0';
    first = false;
    body += argument;
  }
  return std::string(1, '\0') + std::string(magic) + big_endian(static_cast<std::size_t>(type)) +
         big_endian(body.size()) + body;
}

}  // namespace

std::vector<std::string> GearmanPacket::arguments(std::size_t count) const {
  std::vector<std::string> found;
  std::size_t at = 0;
  while (found.size() + 1 < count) {
    const std::size_t end = body.find('\0', at);
    if (end == std::string::npos) break;
    found.push_back(body.substr(at, end - at));
    at = end + 1;
  }
  found.push_back(body.substr(at));
  found.resize(count);
  return found;
}

std::string to_gearmand(Say type, std::initializer_list<std::string_view> arguments) {
  return packet("REQ", type, arguments);
}

std::string from_gearmand(Say type, std::initializer_list<std::string_view> arguments) {
  return packet("RES", type, arguments);
}

std::optional<GearmanPacket> parse_packet(std::string& bytes) {
  if (bytes.size() < header_size) return std::nullopt;
  const std::size_t size = number_at(bytes, 8);
  if (bytes.size() < header_size + size) return std::nullopt;
  GearmanPacket packet{static_cast<Say>(number_at(bytes, 4)), bytes.substr(header_size, size)};
  bytes.erase(0, header_size + size);
  return packet;
}

}  // namespace w8y::sim
