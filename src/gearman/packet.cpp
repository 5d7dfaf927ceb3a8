#include "gearman/packet.hpp"

#include <algorithm>

namespace w8y::gearman {

namespace {

constexpr std::size_t header_size = 12;
constexpr std::string_view to_server("\0REQ", 4);
constexpr std::string_view from_server("\0RES", 4);
/// Number of bytes kept of a packet that is too long: enough for its handle and names.
constexpr std::size_t kept_of_cut = 4096;

void put_number(std::string& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>(static_cast<unsigned char>(number >> static_cast<unsigned>(shift)));
}

std::uint32_t number_at(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(0, 4))
    number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::string request(PacketType type, std::initializer_list<std::string_view> arguments) {
  std::size_t size = arguments.size() > 0 ? arguments.size() - 1 : 0;
  for (const std::string_view argument : arguments) size += argument.size();
  std::string packet(to_server);
  packet.reserve(header_size + size);
  put_number(packet, static_cast<std::uint32_t>(type));
  put_number(packet, static_cast<std::uint32_t>(size));
  bool first = true;
  for (const std::string_view argument : arguments) {
    if (!first) packet += '\0';
    first = false;
    packet += argument;
  }
  return packet;
}

std::optional<std::vector<std::string_view>> Packet::arguments(std::size_t count) const {
  std::vector<std::string_view> found;
  std::string_view rest = body;
  for (; count > 1; --count) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    found.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (count == 1) found.push_back(rest);
  return found;
}

bool PacketReader::read_header() {
  const std::string_view there = std::string_view(bytes_).substr(at_);
  const std::size_t magic = std::min(there.size(), from_server.size());
  if (there.substr(0, magic) != from_server.substr(0, magic)) {
    problem_ = "it sent an invalid packet";
    return false;
  }
  if (there.size() < header_size) return false;
  type_ = static_cast<PacketType>(number_at(there.substr(4)));
  left_ = number_at(there.substr(8));
  at_ += header_size;
  in_packet_ = true;
  cut_ = left_ > longest_;
  body_.clear();
  return true;
}

std::optional<Packet> PacketReader::next() {
  if (!problem_.empty() || (!in_packet_ && !read_header())) return std::nullopt;
  const std::size_t take = std::min(left_, bytes_.size() - at_);
  const std::size_t room = cut_ ? kept_of_cut - std::min(kept_of_cut, body_.size()) : take;
  body_.append(bytes_, at_, std::min(take, room));
  at_ += take;
  left_ -= take;
  if (left_ > 0) {
    bytes_.clear();
    at_ = 0;
    return std::nullopt;
  }
  in_packet_ = false;
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  } else if (at_ > (std::size_t{64} << 10U)) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return Packet{type_, std::move(body_)};
}

}  // namespace w8y::gearman
