// Runs a target on every file of a corpus, so that a fault found by fuzzing stays fixed. Each file
// has a block of its own size, so that a sanitizer detects a read beyond its end.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
      std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
      exact.shrink_to_fit();
      std::fprintf(stderr, "%s\n", entry.path().filename().c_str());
      LLVMFuzzerTestOneInput(exact.data(), exact.size());
      ++files;
    }
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;  // a missing corpus is a failure
}
