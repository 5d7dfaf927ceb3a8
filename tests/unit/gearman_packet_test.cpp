#include <doctest/doctest.h>

#include <string>

#include "gearman/packet.hpp"

using namespace w8y::gearman;
using namespace std::string_literals;

namespace gearman_packet_test {
namespace {

std::string from_server(std::uint32_t type, const std::string& body) {
  std::string packet("\0RES", 4);
  for (const std::uint32_t number : {type, static_cast<std::uint32_t>(body.size())})
    for (unsigned shift = 32; shift > 0; shift -= 8)
      packet += static_cast<char>(number >> (shift - 8) & 0xffU);
  return packet + body;
}

}  // namespace

TEST_CASE("gearman: packets are written in the format of the protocol") {
  CHECK(request(PacketType::pre_sleep) == "\0REQ\0\0\0\x04\0\0\0\0"s);
  CHECK(request(PacketType::work_status, {"H:a:1", "3", "10"}) ==
        "\0REQ\0\0\0\x0c\0\0\0\x0aH:a:1\0"
        "3\0"
        "10"s);
  CHECK(request(PacketType::work_complete, {"H", "a\0b"s}) == "\0REQ\0\0\0\x0d\0\0\0\x05H\0a\0b"s);
}

TEST_CASE("gearman: packets are parsed from pieces of any size") {
  const std::string all = from_server(31, "H:x:1\0f\0u\0a\0b"s) + from_server(6, "") +
                          from_server(10, "") + from_server(31, "H:x:2\0f\0\0"s);
  for (std::size_t step = 1; step <= all.size(); ++step) {
    CAPTURE(step);
    PacketReader reader(100);
    std::vector<Packet> packets;
    for (std::size_t at = 0; at < all.size(); at += step) {
      reader.add(std::string_view(all).substr(at, step));
      while (auto packet = reader.next()) packets.push_back(std::move(*packet));
    }
    REQUIRE(packets.size() == 4);
    CHECK(packets[0].type == PacketType::job_assign_uniq);
    CHECK(packets[0].arguments(4)->back() == "a\0b"s);
    CHECK(packets[1].type == PacketType::noop);
    CHECK(packets[3].arguments(4)->at(2) == "");
    CHECK(packets[3].arguments(4)->at(3) == "");
    CHECK_FALSE(packets[3].arguments(5));
  }
}

TEST_CASE("gearman: a packet that is too long is skipped, except for its start") {
  PacketReader reader(10);
  reader.add(from_server(31, "H\0f\0u\0"s + std::string(5000, 'x')) + from_server(6, ""));
  const auto packet = reader.next();
  REQUIRE(packet);
  CHECK(reader.cut());
  CHECK(packet->arguments(4)->front() == "H");
  CHECK(packet->body.size() == 4096);
  CHECK(reader.next()->type == PacketType::noop);
  CHECK_FALSE(reader.cut());
}

TEST_CASE("gearman: invalid bytes end the parsing") {
  for (const std::string& garbage : {"HTTP/1.1 400"s, "\0REQ\0\0\0\6\0\0\0\0"s, "\0REX"s}) {
    PacketReader reader(10);
    reader.add(garbage);
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.problem().empty());
  }
  PacketReader reader(10);
  reader.add("\0RE"s);
  CHECK_FALSE(reader.next());
  CHECK(reader.problem().empty());
}

}  // namespace gearman_packet_test
