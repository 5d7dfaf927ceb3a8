#include "core/stream_lines.hpp"

#include <doctest/doctest.h>

using namespace w8y;

TEST_CASE("the line of an item matches w8y-executor(7)") {
  const Claim claim{"01HV", "a:0", {}, 1732147200000123, 1};
  CHECK(item_line(claim, "work") ==
        R"({"type":"item","id":"01HV","name":"work","item":"a:0","fence":1732147200000123,)"
        R"("attempt":1})"
        "\n");
  CHECK(cancel_line("01HV") == R"({"type":"cancel","id":"01HV"})"
                               "\n");
}

TEST_CASE("values that are not UTF-8 are sent as base64, and no value breaks the line") {
  Claim claim{"01HV", std::string("\xff\0", 2), {{}, {}, "two\nlines \"é\""}, 7, 3};
  CHECK(item_line(claim, "a\"b") ==
        R"({"type":"item","id":"01HV","name":"a\"b","item_base64":"/wA=",)"
        R"("payload":"two\nlines \"é\"","fence":7,"attempt":3})"
        "\n");
  claim.item = std::string("a\0b", 3);
  claim.call.input = "\xc3";
  CHECK(item_line(claim, "") ==
        R"({"type":"item","id":"01HV","name":"","item":"a\u0000b","payload_base64":"ww==",)"
        R"("fence":7,"attempt":3})"
        "\n");
}
