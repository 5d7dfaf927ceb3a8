// Gearman fuzzer: any bytes, in pieces of any size, are packets or a reason to disconnect.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "gearman/packet.hpp"

namespace {

using namespace w8y::gearman;

struct Heard {
  std::vector<Packet> packets;
  std::string problem;
};

Heard read(std::string_view bytes, std::size_t portion) {
  PacketReader reader(1000);
  Heard heard;
  while (!bytes.empty()) {
    const std::size_t size = std::min(portion, bytes.size());
    reader.add(bytes.substr(0, size));
    bytes.remove_prefix(size);
    while (auto packet = reader.next()) {
      w8y::fuzz::must(packet->body.size() <= 4096, "a packet that is too long is cut");
      for (std::size_t count = 1; count < 6; ++count)
        if (const auto arguments = packet->arguments(count))
          w8y::fuzz::must(arguments->size() == count, "as many arguments as were asked for");
      heard.packets.push_back(std::move(*packet));
    }
  }
  heard.problem = reader.problem();
  return heard;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Heard whole = read(bytes, std::max<std::size_t>(size, 1));
  for (const std::size_t portion : {1U, 7U, 13U}) {
    const Heard parts = read(bytes, portion);
    w8y::fuzz::must(parts.packets.size() == whole.packets.size(), "portions make no difference");
    for (std::size_t i = 0; i < whole.packets.size(); ++i)
      w8y::fuzz::must(parts.packets[i].body == whole.packets[i].body &&
                          parts.packets[i].type == whole.packets[i].type,
                      "portions make no difference");
    w8y::fuzz::must(parts.problem == whole.problem, "nor for what is wrong");
  }
  return 0;
}
