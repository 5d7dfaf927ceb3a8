#include "core/sha256.hpp"

#include <array>
#include <cstddef>

namespace w8y {

void Sha256::add_part(std::string_view bytes) {
  add_number(bytes.size());
  add(bytes);
}

void Sha256::add_number(std::uint64_t number) {
  // Byte by byte, so that hosts with a different byte order agree.
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>((number >> (8 * i)) & 0xff);
  add({bytes.data(), bytes.size()});
}

std::uint64_t Sha256::finish() {
  std::array<std::uint8_t, 8> digest{};
  nettle_sha256_digest(&context_, digest.size(), digest.data());
  std::uint64_t number = 0;
  for (const std::uint8_t byte : digest) number = number << 8 | byte;
  return number;
}

std::string Sha256::finish_hex() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  nettle_sha256_digest(&context_, digest.size(), digest.data());
  std::string text;
  for (const unsigned byte : digest) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 0x0fU];
  }
  return text;
}

}  // namespace w8y
