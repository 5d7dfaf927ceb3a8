// Config texts, parsed on a fake host.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/config.hpp"
#include "fake_host.hpp"

namespace w8y::test {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline Config parse(const std::string& text) {
  FakeHost host;
  return parse_config(text, "c", host);
}

/// Valid list with one more line.
inline std::string list_with(const std::string& line) {
  return "[lists.w]\nexecutor = \"/bin/x\"\n" + line + "\n";
}

}  // namespace w8y::test
