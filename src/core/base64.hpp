// Base64 (RFC 4648, section 4, with padding), for bytes that a JSON string cannot hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace w8y {

std::string base64_encode(std::string_view bytes);
/// Decodes `text`. Returns nullopt for an invalid character, wrong padding or unused bits that are
/// not zero, so that each sequence of bytes has exactly one text.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace w8y
