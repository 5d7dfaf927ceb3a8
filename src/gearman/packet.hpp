// Packets of Gearman's binary protocol, version 1, as a worker sends and reads them.
//
// A packet is a header of twelve bytes and its arguments. The header is "\0REQ" to a server or
// "\0RES" from it, and type and length as big-endian 32-bit numbers. The arguments are separated by
// NUL bytes; the last one may contain any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::gearman {

enum class PacketType : std::uint32_t {
  can_do = 1,
  cant_do = 2,
  reset_abilities = 3,
  pre_sleep = 4,
  noop = 6,
  no_job = 10,
  work_status = 12,
  work_complete = 13,
  work_fail = 14,
  echo_req = 16,
  echo_res = 17,
  error = 19,
  set_client_id = 22,
  work_exception = 25,
  work_data = 28,
  grab_job_uniq = 30,
  job_assign_uniq = 31,
};

/// Returns a packet for a server. Only the last argument may contain NUL bytes.
std::string request(PacketType type, std::initializer_list<std::string_view> arguments = {});

/// Packet from a server.
struct Packet {
  PacketType type = PacketType::noop;
  std::string body;

  /// The first `count` arguments; the last one is the remainder of the packet. nullopt if there are
  /// fewer.
  [[nodiscard]] std::optional<std::vector<std::string_view>> arguments(std::size_t count) const;
};

/// Splits a stream of bytes into packets.
class PacketReader {
 public:
  /// Skips packets longer than `longest`, except for their first argument: a job handle.
  explicit PacketReader(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes) { bytes_ += bytes; }
  /// Returns the next packet. nullopt if it is incomplete, or problem() is set.
  std::optional<Packet> next();
  /// Error in the stream, after which it cannot be read further: the bytes are not those of a
  /// server. Empty if there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Whether the last packet was too long, so that only the start of its body was kept.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  bool read_header();

  const std::size_t longest_;
  std::string bytes_;
  std::size_t at_ = 0;  ///< bytes before this position have been read
  bool in_packet_ = false;
  PacketType type_{};
  std::size_t left_ = 0;  ///< bytes of the packet's body that are not read yet
  bool cut_ = false;
  std::string body_;
  std::string problem_;
};

}  // namespace w8y::gearman
