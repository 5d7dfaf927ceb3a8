// Zone fuzzer: any bytes are a zone or an error. A zone has an offset at each time, and a time for
// each local time.
#include "schedule/zone.hpp"

#include <cstdlib>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  using namespace w8y::schedule;
  auto read = read_zone_data(fuzz::text_of(data, size));
  if (!read) return 0;
  const Zone zone("Fuzz", std::move(*read));
  for (UnixSeconds time = -3'000'000'000; time < 300'000'000'000; time += 29'999'999'999) {
    const Wall wall = zone.wall(time);
    // A local time is never further from UTC than the largest offset.
    fuzz::must(std::abs(zone.when(wall) - time) < 5'000'000'000, "the clock tells the time");
  }
  return 0;
}
