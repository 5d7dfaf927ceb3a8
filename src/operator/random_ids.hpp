// IDs for items: random UUIDs.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace w8y::verbs {

class RandomIds {
 public:
  /// Returns 32 hex digits.
  std::string next();

 private:
  std::array<unsigned char, 4096> bytes_{};
  std::size_t at_ = bytes_.size();
};

}  // namespace w8y::verbs
