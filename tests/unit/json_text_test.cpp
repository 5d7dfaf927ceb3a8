#include "core/json_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using w8y::json_text::error;

namespace json_text_test {
namespace {

/// Parts of valid and of broken lines.
const std::vector<std::string> json_pieces = {"{",
                                              "}",
                                              "\"",
                                              "\"a\"",
                                              "\"type\"",
                                              ":",
                                              ",",
                                              " ",
                                              "\t",
                                              "\r",
                                              "\n",
                                              "\\",
                                              "\\\"",
                                              "[",
                                              "]",
                                              "0",
                                              "1",
                                              "-",
                                              "-0",
                                              "01",
                                              "1.5",
                                              "e3",
                                              "42",
                                              "+",
                                              "true",
                                              "fa",
                                              "null",
                                              "\x01",
                                              "\x7f",
                                              "ä",
                                              "\xc3",
                                              "\xef\xbb\xbf",
                                              "//",
                                              "nullx",
                                              "99999999999999999999",
                                              "-12",
                                              "false"};

void like_the_library(const std::string& text) {
  CAPTURE(text);
  CHECK(!error(text).has_value() == nlohmann::json::accept(text));
  if (error(text)) return;
  const std::string line = w8y::json_text::one_line(text);
  CAPTURE(line);
  CHECK(nlohmann::json::parse(line) == nlohmann::json::parse(text));
  CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < '\x7f'; }));
}

}  // namespace

TEST_CASE("json text: validation agrees with the JSON library") {
  for (const char* text : {"{}",
                           " { } ",
                           "{\"a\":1}",
                           "{\"a\":-0}",
                           "{\"a\":01}",
                           "{\"a\":1.5}",
                           "{\"a\":1e5}",
                           "{\"a\":-}",
                           "{\"a\":1,}",
                           "{\"a\":1,\"a\":2}",
                           "{\"a\" : true , \"b\" : null}\r\n",
                           "{\"a\":truex}",
                           "{\"a\":\"b\\\"\"}",
                           "{\"a\":\"b\\\"}",
                           "{\"a\":[1]}",
                           "{\"a\":{}}",
                           "{,}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "{\"a\":1}}",
                           "{\"a\":1} x",
                           "{\"a\":1",
                           "{\"a",
                           "",
                           "{\"a\":\"\x7f\"}",
                           "{\"a\":\"ä\"}",
                           "{\"a\":\"\x1f\"}",
                           "{\"a\":\"\xc3\"}",
                           "1",
                           "\"a\""})
    like_the_library(text);
  like_the_library("{\"a\":" + std::string(400, '9') + "}");
}

TEST_CASE("json text: a shape has at least the values and members of the parsed text") {
  using w8y::json_text::shape;
  const char* const nested = R"({"a": [1, 2, {"b": []}], "c,[{": "\",\\"})";
  CHECK(shape("7").values == 1);
  CHECK(shape(nested).depth == 4);
  CHECK(shape(nested).members == 2);
  CHECK(shape(nested).values >= 7);
  CHECK(shape("]]],,,").depth == 0);
  CHECK(shape("\"\\").values == 1);
}

TEST_CASE("json text: one line has no space between values, and is ASCII") {
  using w8y::json_text::one_line;
  CHECK(one_line("{\n \"a b\" : [ 1.50 ,\t\"\\\" ]\", {} ]\r\n}") ==
        "{\"a b\":[1.50,\"\\\" ]\",{}]}");
  CHECK(one_line("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\x9b\x7f\"") ==
        R"("\u00e9\u20ac\ud83d\ude00\u009b\u007f")");
  CHECK(one_line("\xef\xbb\xbf{}") == "{}");
}

TEST_CASE("json text: validation agrees with the JSON library for random lines") {
  std::mt19937 random(16);
  const auto below = [&random](std::size_t most) { return random() % most; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = R"({"type":"complete","id":"01ABC","cooldown":30,"good":true})";
    for (std::size_t change = 1 + below(3); change > 0; --change)
      text.replace(below(text.size()), below(4), json_pieces[below(json_pieces.size())]);
    like_the_library(text);
  }
}

}  // namespace json_text_test
