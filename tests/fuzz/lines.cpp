// Fuzzer of executor output: split into lines in any pieces, and parsed as messages and as
// capabilities.
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/escape.hpp"
#include "core/line_splitter.hpp"
#include "core/message.hpp"
#include "fuzz.hpp"

namespace {

constexpr std::size_t max_line = 100;

std::vector<std::string> split(std::string_view bytes, std::size_t portion) {
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line, bool cut) {
    w8y::fuzz::must(line.size() <= max_line, "a line is no longer than it may be");
    lines.push_back(std::string(line) + (cut ? "+" : "."));
  };
  w8y::LineSplitter splitter(max_line);
  while (!bytes.empty()) {
    splitter.feed(bytes.substr(0, portion), keep);
    bytes.remove_prefix(std::min(portion, bytes.size()));
  }
  splitter.finish(keep);
  return lines;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  fuzz::must(split(bytes, data[0] % 50U + 1) == split(bytes, size), "portions make no difference");

  const Message message = parse_message(bytes);
  if (const auto* complete = std::get_if<Complete>(&message))
    fuzz::must(is_utf8(complete->result) && complete->result.front() == '{',
               "a result is an object in UTF-8");
  if (const auto* update = std::get_if<Update>(&message))
    fuzz::must(is_utf8(update->data) && update->data.find('\n') == std::string::npos,
               "an update is JSON on one line");
  if (const auto* bad = std::get_if<BadLine>(&message))
    fuzz::must(!bad->reason.empty(), "a bad line has a reason");

  const ProbeResult caps = parse_caps(std::string(bytes));
  if (const auto* refusal = std::get_if<Ineligibility>(&caps))
    fuzz::must(!refusal->reason.empty(), "a refusal has a reason");
  return 0;
}
