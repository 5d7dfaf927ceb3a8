#include "core/error_pattern.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace w8y;
using core::error_pattern;

TEST_CASE("the pattern of an error message has no variable parts") {
  const std::pair<const char*, const char*> patterns[] = {
      {"", ""},
      {"no route to host", "no route to host"},
      {"HTTP 503 from upstream", "HTTP 503 from upstream"},
      {"exit status 1", "exit status 1"},
      {"got 503 bytes", "got N bytes"},
      {"timeout after 15.25 s", "timeout after N s"},
      {"error 1234567", "error N"},
      {"item 12 of 3,400", "item N of N"},
      {"item12 on web2", "itemN on webN"},
      {"at 2026-01-31T12:00:00Z", "at NZ"},
      {"10.0.0.1:6379 refused", "N refused"},
      {"user 0c5a4b4e-3c1e-4f6b-9b2e-0123456789ab is gone", "user <uuid> is gone"},
      {"run 01ARZ3NDEKTSV4RRFFQ69G5FAV lost", "run <run> lost"},
      {"object 0x7ffe12", "object <hex>"},
      {"commit deadbeef01 missing", "commit <hex> missing"},
      {"decadent facade", "decadent facade"},
      {"KeyError: 'title'", "KeyError: \"…\""},
      {"no such user \"ann o'neil\"", "no such user \"…\""},
      {"can't open it, isn't there", "can't open it, isn't there"},
      {"list `films`: gone", "list \"…\": gone"},
      {"cannot open /var/tmp/job-123/out.txt: no space",
       "cannot open /var/tmp/…/out.txt: no space"},
      {"GET https://example.org/films/77?page=2 failed",
       "GET https://example.org/films/…?… failed"},
      {"first line\nsecond line 2", "first line"},
      {"either/or", "either/or"},
      {"unclosed \"quote 5", "unclosed \"quote N"},
  };
  for (const auto& [message, pattern] : patterns) CHECK(error_pattern(message) == pattern);
}

TEST_CASE("messages of one cause have the same pattern") {
  CHECK(error_pattern("timeout of 10 s for item 'a b'") ==
        error_pattern("timeout of 25 s for item 'c'"));
  CHECK(error_pattern("HTTP 503 from upstream") != error_pattern("HTTP 404 from upstream"));
}

TEST_CASE("a pattern has a limit, and ends with a whole character") {
  std::string message;
  for (int i = 0; i < 200; ++i) message += "ä";
  const std::string pattern = error_pattern(message + "x");
  CHECK(pattern.size() <= core::max_error_pattern);
  CHECK(pattern.size() % 2 == 0);
  CHECK(error_pattern(std::string(10'000'000, '1')) == "N");
}
