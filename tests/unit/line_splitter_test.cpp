#include "core/line_splitter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace w8y;

namespace line_splitter_test {
namespace {

/// Returns the lines of `pieces`, fed one after the other. `<cut>` marks a truncated line.
std::vector<std::string> split(std::size_t max_line, const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  const auto sink = [&lines](std::string_view line, bool cut) {
    lines.push_back(std::string(line) + (cut ? "<cut>" : ""));
  };
  LineSplitter splitter(max_line);
  for (const std::string& piece : pieces) splitter.feed(piece, sink);
  splitter.finish(sink);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("lines end at newlines, wherever the pieces end") {
  CHECK(split(10, {"a\nb\n"}) == Lines{"a", "b"});
  CHECK(split(10, {"a", "b\n", "\nc"}) == Lines{"ab", "", "c"});
  CHECK(split(10, {"a\r\n"}) == Lines{"a\r"});
  CHECK(split(10, {std::string("\0\n", 2)}) == Lines{std::string(1, '\0')});
  CHECK(split(10, {}).empty());
  CHECK(split(10, {"\n"}) == Lines{""});
}

TEST_CASE("a line of max_line bytes is complete, and a longer one is reported once, truncated") {
  CHECK(split(4, {"abcd\ne"}) == Lines{"abcd", "e"});
  CHECK(split(4, {"abcde\nf\n"}) == Lines{"abcd<cut>", "f"});
  CHECK(split(4, {"ab", "cd", "\n"}) == Lines{"abcd"});
  CHECK(split(4, {"ab", "cd", "e", "fgh", "ijk\nl"}) == Lines{"abcd<cut>", "l"});
  CHECK(split(4, {"abcde"}) == Lines{"abcd<cut>"});
}

TEST_CASE("each division of a text into pieces gives the same lines") {
  const std::string text = "one\n\ntwo two two\nthree\nfour four\nfi";
  const Lines whole = split(6, {text});
  CHECK(whole == Lines{"one", "", "two tw<cut>", "three", "four f<cut>", "fi"});
  for (std::size_t at = 0; at <= text.size(); ++at)
    CHECK(split(6, {text.substr(0, at), text.substr(at)}) == whole);
  Lines bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  CHECK(split(6, bytes) == whole);
}

}  // namespace line_splitter_test
