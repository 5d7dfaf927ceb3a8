// Packets of Gearman's binary protocol in both directions. The code of w8y (gearman/packet.hpp) has
// only the packets of a worker, and is the code under test.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::sim {

enum class Say : std::uint32_t {
  can_do = 1,
  cant_do = 2,
  reset_abilities = 3,
  pre_sleep = 4,
  noop = 6,
  submit_job = 7,
  job_created = 8,
  grab_job = 9,
  no_job = 10,
  job_assign = 11,
  work_status = 12,
  work_complete = 13,
  work_fail = 14,
  echo_req = 16,
  echo_res = 17,
  submit_job_bg = 18,
  error = 19,
  submit_job_high = 21,
  set_client_id = 22,
  work_exception = 25,
  work_data = 28,
  work_warning = 29,
  grab_job_uniq = 30,
  job_assign_uniq = 31,
  submit_job_high_bg = 32,
  submit_job_low = 33,
  submit_job_low_bg = 34,
};

struct GearmanPacket {
  Say type = Say::noop;
  std::string body;

  /// Returns `count` arguments. The last one is the remainder of the body. Missing ones are empty.
  [[nodiscard]] std::vector<std::string> arguments(std::size_t count) const;
};

[[nodiscard]] std::string to_gearmand(Say type, std::initializer_list<std::string_view> arguments);
[[nodiscard]] std::string from_gearmand(Say type,
                                        std::initializer_list<std::string_view> arguments);
/// Removes the first packet of either direction from `bytes` and returns it; nullopt if it is not
/// complete yet.
[[nodiscard]] std::optional<GearmanPacket> parse_packet(std::string& bytes);

}  // namespace w8y::sim
