#include "core/config_lists_from.hpp"

#include <utility>

#include "core/setting_text.hpp"

namespace w8y::core {

namespace {

/// The program runs with the privileges of w8yd whenever the config is read, so root must be able
/// to rely on it.
void read_lists_command(const ConfigValue& value, ListsFrom& from) {
  std::vector<std::string> command;
  if (!value.texts(command, "a program and its arguments", true)) return;
  if (command.empty())
    return value.wrong(
        "names no program; must be an array such as [\"/opt/acme/bin/lists\", \"--all\"]");
  std::string program;
  if (!value.member(value.node().items.front()).trusted_path(program)) return;
  from.command = std::move(command);
}

constexpr Key<ListsFrom> rows[] = {
    {"command", "", read_lists_command, [](auto& from) { return as_text(from.command); }},
    {"timeout", R"("10s")",
     [](auto& v, auto& from) { v.duration(from.timeout, std::chrono::milliseconds(100)); },
     [](auto& from) { return as_text(from.timeout); }},
};

}  // namespace

const std::span<const Key<ListsFrom>> lists_from_keys = rows;

}  // namespace w8y::core
