// Fake host for configs, made of maps.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/config.hpp"

namespace w8y::test {

class FakeHost : public ConfigHost {
 public:
  std::map<std::string, File> files;
  std::map<std::string, std::vector<std::string>> globs;
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> distrusted;
  std::map<std::string, std::string> readable;  ///< mode by path, if world-readable
  std::set<std::string> absent;
  bool root = true;
  unsigned cpus = 8;
  std::string own_name = "here";
  std::string bad_url;

  File read(const std::string& path) override {
    const auto file = files.find(path);
    return file == files.end() ? File{"", "not found"} : file->second;
  }
  std::vector<std::string> glob(const std::string& pattern) override {
    if (globs.count(pattern) != 0) return globs[pattern];
    if (files.count(pattern) != 0) return {pattern};
    return {};
  }
  std::string hostname() override { return own_name; }
  unsigned processors() override { return cpus; }
  std::string variable(const std::string& name) override { return variables[name]; }
  bool is_root() override { return root; }
  std::string missing(const std::string& path) override {
    return absent.count(path) != 0 ? "not found" : "";
  }
  std::string distrust(const std::string& path) override { return distrusted[path]; }
  std::string exposed(const std::string& path) override { return readable[path]; }
  std::string url_problem(const std::string& url) override {
    return url == bad_url ? "has a bad port" : "";
  }
};

/// Returns the errors in a config as the user sees them. Empty if it is valid.
inline std::vector<std::string> errors_in(const std::string& text, ConfigHost& host) {
  std::vector<std::string> lines;
  try {
    parse_config(text, "c", host);
  } catch (const ConfigError& error) {
    for (const ConfigDiagnostic& mistake : error.errors()) lines.push_back(mistake.to_string());
  }
  return lines;
}

inline std::vector<std::string> errors_in(const std::string& text) {
  FakeHost host;
  return errors_in(text, host);
}

}  // namespace w8y::test

template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "\n  " + line;
    return text.c_str();
  }
};
