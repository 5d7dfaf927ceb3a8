#include "core/units.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace w8y;
using namespace std::chrono_literals;

TEST_CASE("durations are parsed in all units") {
  const std::pair<const char*, Duration> right[] = {
      {"0", 0s},           {"0s", 0s},       {"5", 5s},
      {"5s", 5s},          {"250ms", 250ms}, {"7us", 7us},
      {"1h30m", 90min},    {"2d", 48h},      {"1.5s", 1500ms},
      {"1.5", 1500ms},     {"0.25h", 15min}, {"1d2h3m4s5ms6us", 26h + 3min + 4s + 5ms + 6us},
      {"1m0.5s", 60500ms}, {"007s", 7s},     {"36500d", 24h * 36500},
      {"0.1us", 1us},
  };
  for (const auto& one : right) {
    const auto& text = one.first;
    const auto& duration = one.second;
    CAPTURE(text);
    CHECK(parse_duration(text) == duration);
  }
}

TEST_CASE("invalid durations are refused") {
  for (const char* text : {"",
                           " ",
                           "s",
                           "5 s",
                           " 5s",
                           "5s ",
                           "-5s",
                           "+5s",
                           "5S",
                           "5sec",
                           "5min",
                           ".5s",
                           "5.s",
                           "5.",
                           "1.2.3s",
                           "1e3",
                           "30m1h",
                           "5s5s",
                           "1h30",
                           "1.5h30m",
                           "1h-3m",
                           "36501d",
                           "3153600001s",
                           "99999999999999999999s",
                           "18446744073709551616",
                           "1w",
                           "1.123456789s",
                           "5µs",
                           "nan",
                           "infinity",
                           "0x10s",
                           "1h 30m",
                           "1,5s",
                           "5sm"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
  CHECK_FALSE(parse_duration(std::string_view("5s\0", 3)));
}

TEST_CASE("durations are written so that parsing restores them") {
  const std::pair<Duration, const char*> written[] = {
      {0s, "0s"},
      {90min, "1h30m"},
      {250ms, "250ms"},
      {1500ms, "1.5s"},
      {48h, "2d"},
      {25h, "1d1h"},
      {60s, "1m"},
      {7us, "7us"},
      {1500us, "1.5ms"},
      {1h + 250ms, "1h0.25s"},
      {1s + 1us, "1.000001s"},
  };
  for (const auto& [duration, text] : written) {
    CHECK(format_duration(duration) == text);
    CHECK(parse_duration(text) == duration);
  }
}

TEST_CASE("sizes are parsed in all units") {
  const std::pair<const char*, std::uint64_t> right[] = {
      {"0", 0},
      {"100", 100},
      {"512B", 512},
      {"64KiB", 65536},
      {"1KB", 1000},
      {"1kB", 1000},
      {"10MB", 10'000'000},
      {"2GiB", std::uint64_t{2} << 30},
      {"1TiB", std::uint64_t{1} << 40},
      {"3PB", 3'000'000'000'000'000},
      {"9223372036854775808", std::uint64_t{1} << 63},
      {"8192PiB", std::uint64_t{1} << 63},
  };
  for (const auto& one : right) {
    const auto& text = one.first;
    const auto& size = one.second;
    CAPTURE(text);
    CHECK(parse_size(text) == size);
  }
}

TEST_CASE("invalid sizes are refused") {
  for (const char* text :
       {"", "B", "KiB", "-1", "+1", "1 KiB", "1K", "1kb", "1kib", "1.5MiB", "1e3",
        "9223372036854775809", "8193PiB", "18446744073709551616", "1KiBB", "0x1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text));
  }
}

TEST_CASE("sizes are written so that parsing restores them") {
  const std::pair<std::uint64_t, const char*> written[] = {
      {0, "0B"},        {1, "1B"},         {513, "513B"},
      {65536, "64KiB"}, {1 << 20, "1MiB"}, {10'000'000, "10MB"},
      {1000, "1KB"},    {1536, "1536B"},   {std::uint64_t{1} << 63, "8192PiB"},
  };
  for (const auto& [size, text] : written) {
    CHECK(format_size(size) == text);
    CHECK(parse_size(text) == size);
  }
}
