#include "core/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace w8y;
using namespace std::string_literals;

TEST_CASE("base64 encodes and decodes the test vectors of RFC 4648, section 10") {
  CHECK(base64_encode("") == "");
  CHECK(base64_encode("f") == "Zg==");
  CHECK(base64_encode("fo") == "Zm8=");
  CHECK(base64_encode("foo") == "Zm9v");
  CHECK(base64_encode("foob") == "Zm9vYg==");
  CHECK(base64_encode("fooba") == "Zm9vYmE=");
  CHECK(base64_encode("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 decoding restores every encoded byte sequence") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    CHECK(base64_decode(base64_encode(bytes)) == bytes);
  }
  CHECK(base64_decode("AAA=") == "\0\0"s);
}

TEST_CASE("base64 decoding refuses text that is not canonical") {
  for (const char* text : {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm 9",
                           "Zh==", "Zm9=", "Zm-_", "=Zg="}) {
    CAPTURE(text);
    CHECK_FALSE(base64_decode(text));
  }
}
