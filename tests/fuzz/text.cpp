// Text fuzzer: bytes that are shown on a terminal or written as JSON, and units that people write.
#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"
#include "fuzz.hpp"

namespace {

/// Splits text as a terminal does.
bool is_harmless(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    const bool c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) return false;
  }
  return w8y::is_utf8(text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  for (const std::size_t most : {max_shown, static_cast<std::size_t>(data[0])}) {
    fuzz::must(is_harmless(escape(bytes, most)), "an escaped text is harmless");
    fuzz::must(is_harmless(escape_text(bytes, most)), "so is a quoted one");
    const std::string json = escape_json(bytes, most);
    fuzz::must(is_harmless(json) && json.size() >= 2 && json.front() == '"' && json.back() == '"',
               "and a JSON string");
  }
  if (const auto time = parse_duration(bytes))
    fuzz::must(parse_duration(format_duration(*time)) == time, "a duration can be read again");
  if (const auto amount = parse_size(bytes))
    fuzz::must(parse_size(format_size(*amount)) == amount, "a size can be read again");
  fuzz::must(base64_decode(base64_encode(bytes)) == bytes, "base64 loses nothing");
  return 0;
}
