// Time that a Redis needs for the work in the simulation, measured on a redis-server of its own or
// taken from an earlier measurement.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/server.hpp"

namespace w8y::sim {

/// Time of a call in ns: `base`, plus an amount for each key that the model looks up or writes.
struct CallTime {
  double base = 0;
  double find_account = 0;
  double write = 0;
};

class MeasuredTimes final : public ServiceTimes {
 public:
  double connection = 0;
  double read = 0;
  double message = 0;
  double subscribe = 0;    ///< per channel
  double script_byte = 0;  ///< per byte of a script that is new to Redis
  CallTime plain;          ///< PING, EXISTS with many keys
  std::map<const redis::Script*, CallTime> scripts;

  [[nodiscard]] double of_connection() const override { return connection; }
  [[nodiscard]] double of_read() const override { return read; }
  [[nodiscard]] double of_message() const override { return message; }
  [[nodiscard]] double of_command(const Work& work) const override;

  /// Measured call, with the numbers of its keys.
  struct Sample {
    std::string what;
    const redis::Script* script = nullptr;
    double ns = 0;
    double find_count = 0;
    double written = 0;
    [[nodiscard]] double by(const CallTime& time) const {
      return time.base + time.find_account * find_count + time.write * written;
    }
  };
  std::vector<Sample> samples;
  [[nodiscard]] const CallTime& of(const redis::Script* script) const;
};

/// Measures a redis-server of its own by the processor time of its main thread, so that other load
/// of the machine has little effect. Uses TCP on the loopback interface.
MeasuredTimes measure_times();
/// Returns the rounded times of one measurement, the same on each machine.
MeasuredTimes usual_times();

}  // namespace w8y::sim
