#include "core/escape.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using namespace w8y;
using namespace std::string_literals;

TEST_CASE("escaping leaves harmless text unchanged") {
  CHECK(escape("run ended, 3/10 \"ok\"") == "run ended, 3/10 \"ok\"");
  CHECK(escape("näïve 日本 🎉") == "näïve 日本 🎉");
  CHECK(escape_text("a:0") == "a:0");
  CHECK(escape_text("日本") == "日本");
}

TEST_CASE("escaping leaves no byte that moves a cursor or ends a line") {
  CHECK(escape("\x1b[2J\x07") == "\\e[2J\\x07");
  CHECK(escape("a\nb\r\n\tc") == "a\\nb\\r\\n\\tc");
  CHECK(escape("\0\x7f"s) == "\\x00\\x7f");
  CHECK(escape("\xc2\x9b"
               "31m") == "\\u009b31m");  // C1: CSI in UTF-8
  CHECK(escape("\x9b"
               "31m") == "\\x9b31m");          // C1: CSI as a byte
  CHECK(escape("\xe2\x80\xa8") == "\\u2028");  // line separator
  CHECK(escape("\xe2\x80\xae"
               "exe.txt") == "\\u202eexe.txt");  // right to left override
}

TEST_CASE("bytes that are not UTF-8 are escaped one by one") {
  CHECK(escape("\xff\xfe") == "\\xff\\xfe");
  CHECK(escape("\xc3(") == "\\xc3(");
  CHECK(escape("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(escape("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(escape("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // over U+10FFFF
  CHECK(escape("\xe6\x97") == "\\xe6\\x97");                    // truncated character
}

TEST_CASE("an escaped text has only one meaning") {
  CHECK(escape("\\n") == "\\\\n");
  CHECK(escape("\n") == "\\n");
}

TEST_CASE("a line of escaped parts stays unchanged, and a control character in it is escaped") {
  const std::string parts = escape("a\x1b\\b") + ": " + escape_text("c \xe2\x80\xae");
  CHECK(escape_line(parts) == parts);
  CHECK(escape_line("a\x1b]0;b\x07\n\xc2\x9b\xff\\") == R"(a\e]0;b\x07\n\u009b\xff\)");
  CHECK(escape_line(std::string(5000, 'x')).size() == 5000);
}

TEST_CASE("values are quoted if their end would be ambiguous") {
  CHECK(escape_text("") == "\"\"");
  CHECK(escape_text("a b") == "\"a b\"");
  CHECK(escape_text("a=b") == "\"a=b\"");
  CHECK(escape_text("say \"hi\"") == "\"say \\\"hi\\\"\"");
  CHECK(escape_text("a\nb") == "\"a\\nb\"");
}

TEST_CASE("text that is too long is truncated between characters, and ends with a mark") {
  CHECK(escape("abcdef", 3) == "abc…");
  CHECK(escape("abc", 3) == "abc");
  CHECK(escape("aé", 2) == "a…");
  CHECK(escape("a\x01", 4) == "a…");
  CHECK(escape(std::string(1 << 20, 'x')).size() < max_shown + 8);
  CHECK(escape_text("abcdef", 3) == "abc…");
}

TEST_CASE("JSON strings are valid for any bytes") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; second += 5) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second), '"', '\\'};
      const std::string text = escape_json(bytes);
      REQUIRE(nlohmann::json::accept(text));
      if (is_utf8(bytes)) REQUIRE(nlohmann::json::parse(text) == bytes);
      for (const char character : text) REQUIRE(static_cast<unsigned char>(character) >= 0x20);
    }
  }
  CHECK(escape_json("\xff") == "\"\\\\xff\"");
  CHECK(escape_json("\x1b[0m") == "\"\\u001b[0m\"");
  CHECK(nlohmann::json::accept(escape_json("\"\"\"\"\"", 3)));
}

TEST_CASE("UTF-8 is validated strictly") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("a\0b"s));
  CHECK(is_utf8("é日🎉"));
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("\xc1\xbf"));
  CHECK_FALSE(is_utf8("\xe0\x9f\xbf"));
  CHECK_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
  CHECK_FALSE(is_utf8("\xf5\x80\x80\x80"));
}

TEST_CASE("an argument of a shell command stands for its bytes, and never runs a command") {
  CHECK(shell_argument("work") == "work");
  CHECK(shell_argument("media:films/a.b@c,d+e%f-g_h") == "media:films/a.b@c,d+e%f-g_h");
  CHECK(shell_argument("") == "''");
  CHECK(shell_argument("a b") == "'a b'");
  CHECK(shell_argument("$(touch x)") == "'$(touch x)'");
  CHECK(shell_argument("*") == "'*'");
  CHECK(shell_argument("{work}") == "'{work}'");
  CHECK(shell_argument("it's") == R"('it'\''s')");
  CHECK(shell_argument("back\\slash") == "'back\\slash'");
  CHECK(shell_argument("\xc3\xbc ") == "'\xc3\xbc '");
  CHECK(shell_argument("new\nline") == R"($'new\x0aline')");
  CHECK(shell_argument("it's\t\\") == R"($'it\x27s\x09\\')");
  CHECK(shell_argument("\xff\xfe") == R"($'\xff\xfe')");
}

TEST_CASE("an item at the end of a command has its bytes, or is a placeholder if it is long") {
  CHECK(shell_item("a b") == "'a b'");
  CHECK(shell_item("--dash") == "-- --dash");
  CHECK(shell_item(std::string("a\0b", 3)) == "--base64 YQBi");
  CHECK(shell_item(std::string(max_shown + 1, 'x')) == "ITEM");
}
