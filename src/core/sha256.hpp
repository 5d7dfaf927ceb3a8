// SHA-256 of a sequence of parts. The length of each part is in the hash, too.
#pragma once

#include <nettle/sha2.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace w8y {

class Sha256 {
 public:
  Sha256() { nettle_sha256_init(&context_); }

  /// Adds the length first, so that "ab", "c" and "a", "bc" differ.
  void add_part(std::string_view bytes);
  void add_number(std::uint64_t number);
  /// Returns the first 64 bits.
  std::uint64_t finish();
  /// Returns all bits, as 64 hexadecimal digits.
  std::string finish_hex();

 private:
  void add(std::string_view bytes) {
    nettle_sha256_update(&context_, bytes.size(),
                         reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }

  sha256_ctx context_{};
};

}  // namespace w8y
