#include "core/caps.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace w8y;

namespace caps_test {
namespace {

std::string refusal(const std::string& output) {
  const ProbeResult result = parse_caps(output);
  const auto* refused = std::get_if<Ineligibility>(&result);
  return refused == nullptr ? "(caps)" : refused->reason;
}

}  // namespace

TEST_CASE("caps are parsed among other keys and white space") {
  const ProbeResult result = parse_caps(
      "{ \"type\": \"caps\",\n \"caps\": [\"single\", \"gpu\"], \"concurrency\": 16,"
      " \"version\": \"2.1\", \"other\": [] }\n");
  REQUIRE(std::holds_alternative<Caps>(result));
  const auto& caps = std::get<Caps>(result);
  CHECK(caps.has("single"));
  CHECK(caps.has("gpu"));
  CHECK_FALSE(caps.has("stream"));
  CHECK(caps.concurrency == 16);
  CHECK(caps.version == "2.1");
}

TEST_CASE("the type of caps may be missing, but must not be another type") {
  const ProbeResult result = parse_caps(R"({"caps":["single","multiple"]})");
  REQUIRE(std::holds_alternative<Caps>(result));
  CHECK(std::get<Caps>(result).has("single"));
  const char* other = R"(its reply to --caps has no "type": "caps")";
  CHECK(refusal(R"({"type":"complete","caps":["single"]})") == other);
  CHECK(refusal(R"({"type":null,"caps":["single"]})") == other);
  CHECK(refusal(R"({"caps":"single"})") ==
        R"("caps" in its reply to --caps is not an array of strings)");
}

TEST_CASE("caps have defaults") {
  const ProbeResult result = parse_caps(R"({"type":"caps","caps":[]})");
  REQUIRE(std::holds_alternative<Caps>(result));
  CHECK(std::get<Caps>(result).caps.empty());
  CHECK(std::get<Caps>(result).concurrency == 1);
}

TEST_CASE("a probe error names the fault of the caps") {
  CHECK(refusal("") == "the executor printed nothing for --caps");
  CHECK(refusal(" \n") == "the executor printed nothing for --caps");
  const std::string not_json = "its reply to --caps is not JSON: ";
  CHECK(refusal(R"({"type":"cap)") == not_json + R"("{\"type\":\"cap" (bad JSON at byte 13))");
  CHECK(refusal("{\"type\": x}") == not_json + R"("{\"type\": x}" (bad JSON at byte 10))");
  CHECK(refusal("\nusage: resize FILE\n") ==
        not_json + R"("usage: resize FILE" (bad JSON at byte 2))");
  CHECK(refusal("{\"caps\":[\"\xff\"]}") ==
        not_json + "\"{\\\"caps\\\":[\\\"\xff\\\"]}\" (bad JSON at byte 11)");
  CHECK(refusal("x" + std::string(100'000, 'y')).size() < 150);
  CHECK(refusal("[]") == "its reply to --caps is not a JSON object");
  CHECK(refusal("{}") == R"(its reply to --caps has no "type": "caps")");
  CHECK(refusal(R"({"type":"caps"})") ==
        R"("caps" in its reply to --caps is not an array of strings)");
  CHECK(refusal(R"({"type":"caps","caps":[1]})") ==
        R"("caps" in its reply to --caps is not an array of strings)");
  for (const char* concurrency : {"0", "-1", "1.5", "\"4\"", "1000001", "99999999999999999999"})
    CHECK(refusal(R"({"type":"caps","caps":[],"concurrency":)" + std::string(concurrency) + "}") ==
          R"("concurrency" in its reply to --caps is not a number from 1 to 1000000)");
  CHECK(refusal(R"({"type":"caps","caps":[],"version":1})") ==
        R"("version" in its reply to --caps is not a string)");
  CHECK(refusal(R"({"type":"caps","caps":)" + std::string(50'000, '[') + std::string(50'000, ']') +
                "}")
            .ends_with("(JSON nested deeper than 128)"));
}

}  // namespace caps_test
