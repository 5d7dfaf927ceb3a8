// Packets of Gearman's binary protocol, version 1, as a worker sends and reads them.
//
// A packet is a header of twelve bytes ("\0REQ" to a server, "\0RES" from it; type and length as
// big-endian 32-bit numbers) and its arguments, parted by NUL bytes; the last one may hold any.
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

/// To a server. No argument but the last may hold a NUL byte.
std::string request(PacketType type, std::initializer_list<std::string_view> arguments = {});

/// From a server.
struct Packet {
  PacketType type = PacketType::noop;
  std::string body;

  /// Its arguments, if there are so many; the last one is the rest. nullopt: there are fewer.
  [[nodiscard]] std::optional<std::vector<std::string_view>> arguments(std::size_t count) const;
};

/// Takes a stream of bytes apart.
class PacketReader {
 public:
  /// Longer ones are passed over, but for their first argument: a job handle.
  explicit PacketReader(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes) { bytes_ += bytes; }
  /// The next packet; nullopt: it is not whole yet, or problem() says what is wrong.
  std::optional<Packet> next();
  /// What came is no packet of a server: there is no way to go on. Empty: nothing is wrong.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The last packet was longer than it may be: its body is only the beginning.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  bool read_header();

  const std::size_t longest_;
  std::string bytes_;
  std::size_t at_ = 0;  ///< what is before it has been taken
  bool in_packet_ = false;
  PacketType type_{};
  std::size_t left_ = 0;  ///< of the packet's body
  bool cut_ = false;
  std::string body_;
  std::string problem_;
};

}  // namespace w8y::gearman
