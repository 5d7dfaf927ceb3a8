#include "core/stream_lines.hpp"

#include "core/json_object.hpp"

namespace w8y {

std::string item_line(const Claim& claim, std::string_view name) {
  constexpr std::size_t around = 128;  // names, numbers and punctuation
  core::JsonObject line(around + claim.run.size() + name.size() + claim.item.size() +
                        (claim.call.input ? claim.call.input->size() : 0));
  line.put("type", "item");
  line.put("id", claim.run);
  line.put("name", name);
  line.put_bytes("item", claim.item);
  if (claim.call.input) line.put_bytes("payload", *claim.call.input);
  if (claim.fence) line.put("fence", static_cast<std::int64_t>(*claim.fence));
  line.put("attempt", claim.attempt);
  return line.finish() + '\n';
}

std::string cancel_line(const RunId& run) {
  core::JsonObject line(64);
  line.put("type", "cancel");
  line.put("id", run);
  return line.finish() + '\n';
}

}  // namespace w8y
