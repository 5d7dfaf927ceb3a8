// Config fuzzer: any text is valid or has errors, each on a line that a terminal can show.
#include "core/config.hpp"

#include "core/escape.hpp"
#include "fuzz.hpp"

namespace {

/// Host without files and accounts.
class EmptyHost final : public w8y::ConfigHost {
 public:
  File read(const std::string&) override { return {"", "not found"}; }
  std::vector<std::string> glob(const std::string&) override { return {}; }
  std::string hostname() override { return "here"; }
  std::string variable(const std::string&) override { return {}; }
  bool is_root() override { return false; }
  std::string missing(const std::string&) override { return {}; }
  std::string distrust(const std::string&) override { return {}; }
};

bool is_printable(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return w8y::is_utf8(text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  EmptyHost host;
  try {
    Config config = parse_config(fuzz::text_of(data, size), "file", host);
    Config again = parse_config(fuzz::text_of(data, size), "file", host);
    set_hashes(config);
    set_hashes(again);
    fuzz::must(config.hash == again.hash, "a config has one hash");
    fuzz::must(describe(config).lists.size() == config.lists.size(), "every list is described");
  } catch (const ConfigError& error) {
    fuzz::must(!error.errors().empty(), "an error has a mistake");
    for (const auto& mistake : error.errors()) {
      fuzz::must(!mistake.text.empty(), "a mistake has a text");
      fuzz::must(is_printable(mistake.to_string()), "a mistake can be shown");
    }
  }
  return 0;
}
