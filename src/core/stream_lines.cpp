#include <nlohmann/json.hpp>

#include <algorithm>

#include <w8y/base64.hpp>
#include <w8y/escape.hpp>
#include <w8y/stream_lines.hpp>

namespace w8y {

namespace {

/// Nothing in it needs an escape: names, ids and most items.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void put_string(std::string& line, std::string_view text) {
  if (is_plain(text)) {
    line.append(1, '"').append(text).append(1, '"');
  } else {
    line += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void put_bytes(std::string& line, std::string_view name, const std::string& bytes) {
  line.append(",\"").append(name);
  if (is_utf8(bytes)) {
    line += "\":";
    put_string(line, bytes);
  } else {
    line.append("_base64\":\"").append(base64_encode(bytes)).append(1, '"');
  }
}

}  // namespace

std::string item_line(const Claim& claim, std::string_view name) {
  constexpr std::size_t around = 128;  // the names, numbers and signs
  std::string line;
  line.reserve(around + claim.run.size() + name.size() + claim.item.size() +
               (claim.payload ? claim.payload->size() : 0));
  line += R"({"type":"item","id":)";
  put_string(line, claim.run);
  line += ",\"name\":";
  put_string(line, name);
  put_bytes(line, "item", claim.item);
  if (claim.payload) put_bytes(line, "payload", *claim.payload);
  line.append(",\"fence\":").append(std::to_string(claim.fence));
  line.append(",\"attempt\":").append(std::to_string(claim.attempt));
  return std::move(line.append("}\n"));
}

std::string cancel_line(const RunId& run) {
  std::string line = R"({"type":"cancel","id":)";
  put_string(line, run);
  return line + "}\n";
}

}  // namespace w8y
