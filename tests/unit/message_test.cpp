#include "core/message.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace w8y;
using namespace std::chrono_literals;

namespace message_test {
namespace {

std::string reason_of(const std::string& line) {
  const Message message = parse_message(line);
  const auto* bad = std::get_if<BadLine>(&message);
  return bad == nullptr ? "(good)" : bad->reason;
}

Complete complete(const std::string& line) {
  Message message = parse_message(line);
  REQUIRE(std::holds_alternative<Complete>(message));
  return std::get<Complete>(message);
}

}  // namespace

TEST_CASE("complete keeps all keys except type and id as they were written") {
  const Complete message = complete(
      R"( {"type":"complete", "size": 1.10, "id":"01HV", "big":123456789012345678901234567890,)"
      R"("deep":{"type":"x","a":[1,"}"]} , "s":"a\"b,{" })"
      "\r");
  CHECK(message.result == R"({"size": 1.10,"big":123456789012345678901234567890,)"
                          R"("deep":{"type":"x","a":[1,"}"]},"s":"a\"b,{"})");
  CHECK_FALSE(message.error);
  CHECK_FALSE(message.cooldown);
  CHECK(message.mistake.empty());
  CHECK(complete(R"({"type":"complete"})").result == "{}");
}

TEST_CASE("the run ID of a line of a stream process is parsed, even if the line is bad") {
  const auto id = [](const char* line) { return parse_stream_message(line).id.value_or("(none)"); };
  CHECK(id(R"({"type":"complete","id":"01HV"})") == "01HV");
  CHECK(id(R"({"id":"a","type":"progress"})") == "a");
  CHECK(id(R"({"id":"a","type":"progress","id":"\u0062"})") == "b");
  CHECK(id(R"({"type":"complete","id":7})") == "(none)");
  CHECK(id(R"({"type":"complete"})") == "(none)");
  CHECK(id(R"({"id":"a")") == "(none)");
  CHECK(id(R"("id")") == "(none)");
  CHECK(std::holds_alternative<Complete>(
      parse_stream_message(R"({"id":7,"type":"complete"})").message));
  CHECK(std::holds_alternative<BadLine>(
      parse_stream_message(R"({"id":"a","type":"progress"})").message));
}

TEST_CASE("an error key of any value makes a complete a failure") {
  CHECK(complete(R"({"type":"complete","error":"no \u00e9clair"})").error == "no éclair");
  CHECK(complete(R"({"type":"complete","error":""})").error == "");
  CHECK(complete(R"({"type":"complete","error":{"code": 7}})").error == R"({"code": 7})");
  CHECK(complete(R"({"type":"complete","error":null})").error == "null");
  CHECK(complete(R"({"type":"complete","error":"x"})").result == R"({"error":"x"})");
}

TEST_CASE("cooldown and backoff are durations or seconds") {
  CHECK(complete(R"({"type":"complete","cooldown":"10m"})").cooldown == 10min);
  CHECK(complete(R"({"type":"complete","cooldown":90})").cooldown == 90s);
  CHECK(complete(R"({"type":"complete","cooldown":1.5})").cooldown == 1500ms);
  CHECK(complete(R"({"type":"complete","backoff":30})").backoff == 30s);
}

TEST_CASE("a complete with an invalid key is accepted and reports the key") {
  const Complete message = complete(R"({"type":"complete","error":"x","cooldown":"soon"})");
  CHECK(message.error == "x");
  CHECK_FALSE(message.cooldown);
  CHECK(message.mistake == R"(cooldown is not a duration: "soon")");
  CHECK_FALSE(complete(R"({"type":"complete","cooldown":-1})").cooldown);
  CHECK_FALSE(complete(R"({"type":"complete","cooldown":[1]})").cooldown);
  CHECK_FALSE(complete(R"({"type":"complete","cooldown":null})").mistake.empty());
}

TEST_CASE("schedule is STOP or UNSET") {
  CHECK(complete(R"({"type":"complete","schedule":"STOP"})").schedule == "STOP");
  CHECK(complete(R"({"type":"complete","schedule":"UNSET"})").schedule == "UNSET");
  const Complete message = complete(R"({"type":"complete","schedule":"MAYBE"})");
  CHECK_FALSE(message.schedule);
  CHECK_FALSE(message.mistake.empty());
}

TEST_CASE("progress requires two numbers") {
  const Message message = parse_message(R"({"type":"progress","numerator":3,"denominator":1e1})");
  REQUIRE(std::holds_alternative<Progress>(message));
  CHECK(std::get<Progress>(message).numerator == 3);
  CHECK(std::get<Progress>(message).denominator == 10);
  CHECK(reason_of(R"({"type":"progress","numerator":3})").starts_with("progress without"));
  CHECK(reason_of(R"({"type":"progress","numerator":"3","denominator":4})")
            .starts_with("progress without"));
}

TEST_CASE("update keeps its data as it was written") {
  const Message message = parse_message(R"({"data": {"a" : [1, 2.50]} ,"type":"update"})");
  REQUIRE(std::holds_alternative<Update>(message));
  CHECK(std::get<Update>(message).data == R"({"a" : [1, 2.50]})");
  CHECK(reason_of(R"({"type":"update"})").starts_with("update without data"));
}

TEST_CASE("print requires text") {
  const Message message = parse_message(R"({"type":"print","content":"a\tb"})");
  REQUIRE(std::holds_alternative<Print>(message));
  CHECK(std::get<Print>(message).content == "a\tb");
  CHECK(reason_of(R"({"type":"print","content":1})").starts_with("print without"));
}

TEST_CASE("keys may be escaped, and the last of equal keys is used") {
  CHECK(std::holds_alternative<Print>(parse_message(R"({"\u0074ype":"print","content":"x"})")));
  CHECK(std::holds_alternative<Print>(
      parse_message(R"({"type":"update","content":"x","type":"print"})")));
}

TEST_CASE("a bad line has a reason") {
  CHECK(reason_of("") == "bad JSON at byte 1: ");
  CHECK(reason_of("hello") == "bad JSON at byte 1: hello");
  CHECK(reason_of(R"({"type":"comp)").starts_with("bad JSON at byte 14"));
  CHECK(reason_of(R"({"type":"print","content":"x"} x)").starts_with("bad JSON at byte 32"));
  CHECK(reason_of("{\"type\":\"print\",\"content\":\"\xff\"}").starts_with("bad JSON at byte 28"));
  CHECK(reason_of(R"({"type":"print","content":"\ud800"})").starts_with("bad JSON"));
  CHECK(reason_of(R"({"type":"progress","numerator":1e999,"denominator":1})")
            .starts_with("bad JSON"));
  CHECK(reason_of("[1]") == "not a JSON object: [1]");
  CHECK(reason_of("null") == "not a JSON object: null");
  CHECK(reason_of("{}") == "no type: {}");
  CHECK(reason_of(R"({"type":7})").starts_with("unknown type"));
  CHECK(reason_of(R"({"type":"finished"})").starts_with("unknown type"));
  CHECK(reason_of(std::string(R"({"type":"print","content":")") + '\0' + "\"}")
            .starts_with("bad JSON"));
}

TEST_CASE("the reason for a long bad line is truncated between characters") {
  const std::string reason = reason_of(std::string(78, 'x') + "äöüäöü");
  CHECK(reason == "bad JSON at byte 1: " + std::string(78, 'x') + "ä…");
  CHECK(reason_of(std::string(1 << 20, '\x80')).size() < 120);
}

TEST_CASE("deep and long messages are parsed or refused without harm") {
  for (const char open : {'[', '{'}) {
    const std::string deep(1 << 20, open);
    CHECK_FALSE(reason_of(deep) == "(good)");
  }
  const std::string nested =
      R"({"type":"update","data":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK(reason_of(nested).starts_with("JSON nested deeper than 128"));
  const std::string text(1 << 20, 'x');
  const Message message = parse_message(R"({"type":"print","content":")" + text + "\"}");
  REQUIRE(std::holds_alternative<Print>(message));
  CHECK(std::get<Print>(message).content == text);
}

}  // namespace message_test
