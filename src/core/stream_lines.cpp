#include <nlohmann/json.hpp>

#include <w8y/base64.hpp>
#include <w8y/escape.hpp>
#include <w8y/stream_lines.hpp>

namespace w8y {

namespace {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void put_bytes(std::string& line, const std::string& name, const std::string& bytes) {
  line += ",\"" + name;
  if (is_utf8(bytes)) {
    line += "\":" + json_string(bytes);
  } else {
    line += "_base64\":\"" + base64_encode(bytes) + '"';
  }
}

}  // namespace

std::string item_line(const Claim& claim, std::string_view name) {
  std::string line = R"({"type":"item","id":)" + json_string(claim.run);
  line += ",\"name\":" + json_string(name);
  put_bytes(line, "item", claim.item);
  if (claim.payload) put_bytes(line, "payload", *claim.payload);
  line += ",\"fence\":" + std::to_string(claim.fence);
  line += ",\"attempt\":" + std::to_string(claim.attempt);
  return line + "}\n";
}

std::string cancel_line(const RunId& run) {
  return R"({"type":"cancel","id":)" + json_string(run) + "}\n";
}

}  // namespace w8y
