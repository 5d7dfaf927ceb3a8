// What the fuzz targets share. A target is a function of bytes that ends normally, whatever they
// are; where something must hold, it aborts if it doesn't.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// libFuzzer's name for it. replay.cpp calls it too, with every file of a corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace w8y::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void must(bool fact, const char* what) {
  if (fact) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace w8y::fuzz
