#include "core/run_id.hpp"

#include <doctest/doctest.h>

using namespace w8y;

TEST_CASE("run IDs sort by time, even within a millisecond and after the clock is set back") {
  RunIds ids(1);
  RunId last = ids.next(WallTime(1'700'000'000'000));
  CHECK(last.size() == 26);
  CHECK(last.str().substr(0, 10) == "01HF7YAT00");
  for (const std::int64_t ms : {1'700'000'000'000, 1'700'000'000'001, 1'600'000'000'000}) {
    const RunId next = ids.next(WallTime(ms));
    CHECK(next > last);
    last = next;
  }
}
