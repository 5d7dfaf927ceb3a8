// Helper of schema_check.py: prints the keys known to the parser, and the errors in given files.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "core/config.hpp"

using namespace w8y;

namespace {

/// Host on which each account exists and each file belongs to root: only keys are checked.
class LenientHost : public SystemConfigHost {
 public:
  std::vector<std::string> glob(const std::string&) override { return {}; }
  std::string missing(const std::string&) override { return {}; }
  std::string distrust(const std::string&) override { return {}; }
  std::string token_problem(const std::string&) override { return {}; }
};

void print_keys() {
  for (const KnownKey& key : known_keys()) {
    std::printf("%s\t%s\t%s\n", key.section.c_str(), key.name.c_str(), key.fallback.c_str());
  }
}

/// Prints one line per file on standard input, separated by NUL bytes: its errors, or an empty
/// line.
void check_files() {
  const std::string all(std::istreambuf_iterator<char>(std::cin), {});
  LenientHost host;
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::string_view file = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(file.size() + 1, rest.size()));
    try {
      parse_config(file, "file", host);
    } catch (const ConfigError& error) {
      for (const ConfigDiagnostic& mistake : error.errors()) {
        std::printf("%s; ", mistake.to_string().c_str());
      }
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--check") {
    check_files();
  } else {
    print_keys();
  }
  return 0;
}
