// Helpers of the fuzz targets. A target is a function of bytes that returns normally for any input.
// It aborts if an invariant is violated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// Entry point of libFuzzer. replay.cpp calls it as well, with each file of a corpus.
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
