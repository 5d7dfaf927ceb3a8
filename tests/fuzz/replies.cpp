// Fuzzer of Redis replies: any bytes in any pieces are parsed, and the replies are used in each
// way.
#include <algorithm>
#include <string>

#include "fuzz.hpp"
#include "redis/hash_slots.hpp"
#include "redis/reader.hpp"
#include "redis/reply.hpp"
#include "redis/reply_copy.hpp"
#include "redis/server_info.hpp"

namespace {

constexpr std::size_t max_reply = 4096;

std::string flat(const w8y::redis::ReplyCopy& value) {
  std::string text = std::to_string(static_cast<int>(value.kind)) + ":" + value.text + ":" +
                     std::to_string(value.number);
  for (const auto& element : value.elements) text += "(" + flat(element) + ")";
  return text;
}

/// Uses a reply as one of a cluster node. Only consistent replies are accepted.
void parse_as_cluster(const w8y::redis::ReplyCopy& value) {
  using namespace w8y::redis;
  const HostPort asked{"there", 1};
  SlotMap map;
  if (read_slots(asked, value, map).empty()) {
    const auto served = map.any_served();
    w8y::fuzz::must(!served || map.primary(*served) != nullptr, "a served slot has a primary");
    w8y::fuzz::must(map.primary(slot_count - 1) == nullptr || !map.nodes().empty(),
                    "a primary is a node");
  }
  static_cast<void>(read_cluster(asked, {value, value}, map));
  if (const auto to = redirected_to(value.text, asked))
    w8y::fuzz::must(!to->host.empty() && to->port != 0, "a redirection leads somewhere");
}

/// Returns all parsed replies.
std::string read(std::string_view bytes, std::size_t portion) {
  using namespace w8y::redis;
  Reader reader(max_reply);
  std::string understood;
  while (!bytes.empty() && reader.problem().empty()) {
    reader.feed(bytes.substr(0, portion));
    bytes.remove_prefix(std::min(portion, bytes.size()));
    while (const redisReply* reply = reader.next()) {
      const Reply view(reply);
      static_cast<void>(error_code(view.text()));
      static_cast<void>(view[view.size()].text());
      static_cast<void>(guarantee(parse_server_info(view.text())));
      static_cast<void>(weaknesses(parse_server_info(view.text()), "there", false));
      const ReplyCopy value(view);
      parse_as_cluster(value);
      understood += flat(value) + "\n";
    }
  }
  return understood;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const std::string whole = read(bytes, redis::Reader::max_feed);
  const std::string portions = read(bytes, data[0] + 1U);
  // A limit may be reached one piece earlier or later. The replies before that are the same.
  fuzz::must(whole.starts_with(portions) || portions.starts_with(whole),
             "portions make no difference");
  return 0;
}
