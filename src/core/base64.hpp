// Base64 (RFC 4648, section 4: with padding), for bytes that JSON can't hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace w8y {

std::string base64_encode(std::string_view bytes);
/// nullopt: a character that doesn't belong, wrong padding, or bits left over: each sequence of
/// bytes has exactly one text.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace w8y
