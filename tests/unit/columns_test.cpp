#include "ctl/columns.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <numeric>

using namespace w8y::ctl;

namespace columns_test {
namespace {

struct Utf8 {
  Utf8() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  ~Utf8() { std::setlocale(LC_CTYPE, "C"); }
};

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

}  // namespace

TEST_CASE("the width of a text is its width on a terminal, and a truncated text ends with a mark") {
  const Utf8 utf8;
  CHECK(width_of("abc") == 3);
  CHECK(width_of("äöü") == 3);
  CHECK(width_of("日本") == 4);
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdef", 5) == "abcd…");
  CHECK(cut_to("日本語", 5) == "日本…");
  CHECK(cut_to("日本語", 4) == "日…");
  CHECK(cut_to("abc", 1) == "…");
  CHECK(cut_to("abc", 0).empty());
}

TEST_CASE("columns that fit keep their width") {
  CHECK(fit({{10, 6, true}, {20, 6, false}}, 32) == std::vector<std::size_t>{10, 20});
}

TEST_CASE("the widest soft column shrinks first") {
  const auto widths = fit({{26, 6, false}, {60, 6, true}, {9, 6, false}, {30, 6, true}}, 80);
  CHECK(total(widths) == 80);
  CHECK(widths[0] == 26);
  CHECK(widths[2] == 9);
  CHECK(widths[1] + widths[3] == 39);
  CHECK(widths[3] >= 19);
}

TEST_CASE("other columns shrink when no soft column can, and no column disappears") {
  const auto widths = fit({{26, 6, false}, {60, 6, true}, {24, 6, false}}, 40);
  CHECK(total(widths) == 40);
  CHECK(widths[1] == 6);
  CHECK(fit({{26, 6, false}, {60, 6, true}}, 10) == std::vector<std::size_t>{4, 4});
  CHECK(fit({{26, 6, false}, {60, 6, true}}, 3) == std::vector<std::size_t>{1, 1});
  CHECK(fit({}, 80).empty());
}

TEST_CASE("text is wrapped at blanks") {
  const Utf8 utf8;
  using Lines = std::vector<std::string>;
  CHECK(wrap("", 10) == Lines{""});
  CHECK(wrap("one two three", 8) == Lines{"one two", "three"});
  CHECK(wrap("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrap("abcdefghij", 4) == Lines{"abcd", "efgh", "ij"});
  CHECK(wrap("日本語", 1) == wrap("日本語", 1));  // terminates
}

}  // namespace columns_test
