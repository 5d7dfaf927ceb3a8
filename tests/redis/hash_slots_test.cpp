#include "redis/hash_slots.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace w8y::redis;

namespace hash_slots_test {
namespace {

ReplyCopy number(std::int64_t number) {
  ReplyCopy value;
  value.kind = ReplyCopy::Kind::integer;
  value.number = number;
  return value;
}
ReplyCopy text(const std::string& text) {
  ReplyCopy value;
  value.kind = ReplyCopy::Kind::string;
  value.text = text;
  return value;
}
ReplyCopy array(std::vector<ReplyCopy> elements) {
  ReplyCopy value;
  value.kind = ReplyCopy::Kind::array;
  value.elements = std::move(elements);
  return value;
}
const HostPort asked{"me", 7000};

}  // namespace

TEST_CASE("hash slots match the specification of Redis Cluster") {
  CHECK(slot_of("123456789") == 0x31C3);
  CHECK(slot_of("") == 0);
  CHECK(slot_of("foo") == 12182);
  CHECK(slot_of("{user1000}.following") == slot_of("{user1000}.followers"));
  CHECK(slot_of("foo{}{bar}") != slot_of("bar"));  // the first pair is empty: the whole key counts
  CHECK(slot_of("foo{{bar}}zap") == slot_of("{bar"));
  CHECK(slot_of("foo{bar}{zap}") == slot_of("bar"));
  CHECK(slot_of("foo{bar") != slot_of("bar"));
  CHECK(slot_of(std::string("{a\0b}c", 6)) == slot_of(std::string("a\0b", 3)));
}

TEST_CASE("prefixes with a hash tag put all keys into one hash slot") {
  for (const char* good : {"{work}", "{work}:", "a{b}c:", "{{a}", "{a}{}"})
    CHECK(has_hash_tag(good));
  for (const char* bad : {"", "work", "{work", "work}", "{}", "{}{a}", "}{"})
    CHECK_FALSE(has_hash_tag(bad));
}

TEST_CASE("the key of a command is found") {
  CHECK(key_of({"GET", "k"}) == "k");
  CHECK(key_of({"PUBLISH", "channel", "text"}) == "channel");
  CHECK(key_of({"EVAL", "return 1", "2", "k", "l", "arg"}) == "k");
  CHECK(key_of({"EVALSHA", "abc", "0", "arg"}) == std::nullopt);
  CHECK(key_of({"EVAL", "return 1", "0"}) == std::nullopt);
  for (const char* name : {"INFO", "CONFIG", "TIME", "MULTI", "EXEC", "SCRIPT"})
    CHECK(key_of({name, "x"}) == std::nullopt);
  CHECK(key_of({"PING"}) == std::nullopt);
  CHECK(key_of({}) == std::nullopt);
}

TEST_CASE("CLUSTER SLOTS may omit hosts") {
  SlotMap map;
  const ReplyCopy reply =
      array({array({number(0), number(100), array({text(""), number(7000), text("id")}),
                    array({text("10.0.0.9"), number(7001), text("id"), array({})})}),
             array({number(200), number(16383), array({text("::1"), number(7002), text("id")})}),
             array({number(101), number(101), array({text("?"), number(7003)})}),
             array({number(102), number(102), array({ReplyCopy(), number(7004)})})});
  CHECK(read_slots(asked, reply, map).empty());
  CHECK(*map.primary(0) == HostPort{"me", 7000});
  CHECK(*map.primary(100) == HostPort{"me", 7000});
  CHECK(*map.primary(101) == HostPort{"me", 7003});
  CHECK(*map.primary(102) == HostPort{"me", 7004});
  CHECK(map.primary(103) == nullptr);
  CHECK(map.primary(199) == nullptr);
  CHECK(*map.primary(16383) == HostPort{"::1", 7002});
  CHECK(map.nodes().size() == 5);
  CHECK(map.any_served() == 0);
  map.set(199, {"new", 1});
  CHECK(*map.primary(199) == HostPort{"new", 1});
}

TEST_CASE("an invalid hash slot map leaves the old one unchanged") {
  SlotMap map;
  map.set(5, asked);
  const ReplyCopy node = array({text("h"), number(1)});
  for (const ReplyCopy& wrong :
       {ReplyCopy(), number(3), array({}), array({number(1)}),
        array({array({number(0), number(1)})}), array({array({number(0), number(16384), node})}),
        array({array({number(-1), number(1), node})}), array({array({number(2), number(1), node})}),
        array({array({number(0), number(1), array({text("h"), number(70000)})})})})
    CHECK_FALSE(read_slots(asked, wrong, map).empty());
  CHECK(*map.primary(5) == asked);
  CHECK(map.primary(6) == nullptr);
  CHECK(SlotMap().primary(0) == nullptr);
  CHECK(SlotMap().any_served() == std::nullopt);
}

TEST_CASE("MOVED and ASK contain the address of the other node") {
  CHECK(redirected_to("MOVED 3999 127.0.0.1:6381", asked) == HostPort{"127.0.0.1", 6381});
  CHECK(redirected_to("ASK 3999 ::1:6381", asked) == HostPort{"::1", 6381});
  CHECK(redirected_to("MOVED 3999 node.example:6381", asked) == HostPort{"node.example", 6381});
  CHECK(redirected_to("MOVED 3999 :6381", asked) == HostPort{"me", 6381});
  for (const char* wrong : {"", "MOVED", "MOVED 1", "MOVED 1 ", "MOVED 1 h", "MOVED 1 h:",
                            "MOVED :1", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:1x"})
    CHECK(redirected_to(wrong, asked) == std::nullopt);
}

}  // namespace hash_slots_test
