// How long a Redis takes for what the simulation has it do: measured on a redis-server of its own,
// or as it was measured once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/server.hpp"

namespace w8y::sim {

/// What a call takes: `base`, and so much for each key that it looks up and writes, as the model
/// counts them; in ns.
struct CallTime {
  double base = 0;
  double look_up = 0;
  double write = 0;
};

class MeasuredTimes final : public ServiceTimes {
 public:
  double connection = 0;
  double read = 0;
  double message = 0;
  double subscribe = 0;    ///< one channel
  double script_byte = 0;  ///< of a script's text that is new to Redis
  CallTime plain;          ///< PING, EXISTS with many keys
  std::map<const redis::Script*, CallTime> scripts;

  [[nodiscard]] double of_connection() const override { return connection; }
  [[nodiscard]] double of_read() const override { return read; }
  [[nodiscard]] double of_message() const override { return message; }
  [[nodiscard]] double of_command(const Work& work) const override;

  /// One call, as it was measured, and what it did.
  struct Sample {
    std::string what;
    const redis::Script* script = nullptr;
    double ns = 0;
    double looked_up = 0;
    double written = 0;
    [[nodiscard]] double by(const CallTime& time) const {
      return time.base + time.look_up * looked_up + time.write * written;
    }
  };
  std::vector<Sample> samples;
  [[nodiscard]] const CallTime& of(const redis::Script* script) const;
};

/// On a redis-server of its own, by the processor time of its main thread, so that whatever else
/// the machine does counts little. Over TCP on the loopback.
MeasuredTimes measure_times();
/// Rounded figures of one measurement: the same on each machine.
MeasuredTimes usual_times();

}  // namespace w8y::sim
