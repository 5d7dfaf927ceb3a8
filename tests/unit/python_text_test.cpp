// Text in the formats that Python writes: CSV and JSON.
#include <doctest/doctest.h>

#include <limits>

#include "ctl/csv.hpp"
#include "ctl/python_json.hpp"

using namespace w8y::ctl;

namespace python_text_test {
namespace {

std::vector<std::vector<std::string>> fields_of(std::string_view text) {
  std::vector<std::vector<std::string>> all;
  for (auto& row : read_csv(text).rows) all.push_back(std::move(row.fields));
  return all;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("CSV fields are quoted only where necessary") {
  CHECK(csv_line({"a:A", "NOW"}) == "a:A,NOW\r\n");
  CHECK(csv_line({" a ", ""}) == " a ,\r\n");
  CHECK(csv_line({"a,b", "say \"x\""}) == "\"a,b\",\"say \"\"x\"\"\"\r\n");
  CHECK(csv_line({"one\ntwo", "three\r"}) == "\"one\ntwo\",\"three\r\"\r\n");
  CHECK(csv_line({std::string("\0;\t'", 4), "\xff"}) == std::string("\0;\t',\xff\r\n", 8));
  CHECK(csv_line({""}) == "\"\"\r\n");
}

TEST_CASE("CSV is parsed as it was written, and in the dialects of other programs") {
  const Rows rows = {{"a,b", "say \"x\""}, {"one\ntwo", "three\r\nfour"}, {"", " "}, {"x", ""}};
  std::string text;
  for (const auto& row : rows) text += csv_line(row);
  CHECK(fields_of(text) == rows);
  CHECK(fields_of("a,b\nc,d") == Rows{{"a", "b"}, {"c", "d"}});
  CHECK(fields_of("a,b\rc,d\r\n\r\n\ne,f\n") == Rows{{"a", "b"}, {"c", "d"}, {"e", "f"}});
  CHECK(fields_of("a,b,c\nd\n") == Rows{{"a", "b", "c"}, {"d"}});
  CHECK(fields_of("a\"b,\"c\"d\"e\n") == Rows{{"a\"b", "cd\"e"}});
  CHECK(fields_of("") == Rows{});
}

TEST_CASE("a row has its line number, and a quote that is not closed is reported") {
  const CsvText text = read_csv("a,b\n\"c\nd\r\ne\",f\n\nlast,\"open\nand,on");
  REQUIRE(text.rows.size() == 3);
  CHECK(text.rows[0].line == 1);
  CHECK(text.rows[1].line == 2);
  CHECK(text.rows[2].line == 6);
  CHECK(text.unclosed_line == 6);
  CHECK(read_csv("a,\"b\"").unclosed_line == 0);
}

TEST_CASE("strings are ASCII, as Python writes them") {
  CHECK(python_string("a b") == "\"a b\"");
  CHECK(python_string("\"\\/\n\r\t\b\f") == R"("\"\\/\n\r\t\b\f")");
  CHECK(python_string(std::string("\0\x1f\x7f", 3)) == R"("\u0000\u001f\u007f")");
  CHECK(python_string("\u00e9 \u20ac \U0001f6b2") == R"("\u00e9 \u20ac \ud83d\udeb2")");
  // Not UTF-8: a lone byte, a truncated character, an encoded surrogate.
  CHECK(python_string("\xff\xc3") == R"("\udcff\udcc3")");
  CHECK(python_string("\xed\xa0\x80") == R"("\udced\udca0\udc80")");
}

TEST_CASE("numbers are floats, as Python writes them") {
  CHECK(python_float(1381720578) == "1381720578.0");
  CHECK(python_float(0) == "0.0");
  CHECK(python_float(-1.5) == "-1.5");
  CHECK(python_float(0.1) == "0.1");
  CHECK(python_float(1e15) == "1000000000000000.0");
  CHECK(python_float(1e16) == "1e+16");
  CHECK(python_float(1.5e300) == "1.5e+300");
  CHECK(python_float(0.0001) == "0.0001");
  CHECK(python_float(0.00001) == "1e-05");
  CHECK(python_float(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(python_float(-std::numeric_limits<double>::infinity()) == "-Infinity");
}

}  // namespace python_text_test
