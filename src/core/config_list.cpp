// The keys of a list, and what must hold between them.
#include <algorithm>

#include "core/config_keys.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t most_runs = 100'000;
constexpr std::int64_t million = 1'000'000;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

void read_command(const Value& value, Rule& rule) {
  std::vector<std::string> command;
  if (!value.texts(command, "a program and its arguments", true)) return;
  if (command.empty() || command.front().empty()) {
    return value.wrong("names no program; must be an array such as [\"convert\", \"{}\"]");
  }
  const std::string& program = command.front();
  if (program.front() != '/' && program.find('/') != std::string::npos) {
    return value.wrong("starts with " + quote_start(program) +
                       "; must be an absolute path, or a bare name that is looked up in PATH");
  }
  rule.command = std::move(command);
}

void read_mode(const Value& value, Rule& rule) {
  value.choice<Mode>(
      rule.mode, {{"auto", Mode::automatic}, {"single", Mode::single}, {"stream", Mode::stream}});
}

void read_source(const Value& value, Rule& rule) {
  const Node& node = value.node();
  if (node.kind == Node::Kind::text && (node.text == "schedule" || node.text == "job")) {
    return value.wrong("is " + quote(node.text) +
                       ", which this version does not have yet; must be \"circular\"");
  }
  value.choice<SourceKind>(rule.source, {{"circular", SourceKind::circular}});
}

void read_exit_codes(const Value& value, Rule& rule) {
  std::vector<int> codes;
  if (value.node().kind != Node::Kind::array || value.node().items.empty()) {
    return value.must_be("an array of exit codes, such as [0, 3], with one at least");
  }
  const std::size_t before = value.reading().mistakes.size();
  for (const Node& item : value.node().items) {
    int code = 0;
    if (value.member(item).integer(code, 0, 255)) codes.push_back(code);
  }
  if (value.reading().mistakes.size() != before) return;
  // Their order and number mean nothing, so the same codes are the same setting.
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  rule.child.edit().success_exit_codes = std::move(codes);
}

void read_env_var(const Value& value, Rule& rule) {
  std::string name;
  if (!value.text(name, "the name of a variable")) return;
  if (!is_variable_name(name) || name.starts_with("W8Y_")) {
    return value.must_be(
        "the name of a variable: letters, digits and _, no digit first, not starting with W8Y_");
  }
  rule.child.edit().env_var = name;
}

void read_cwd(const Value& value, Rule& rule) {
  std::string cwd;
  if (!value.text(cwd, "an absolute path or \"temp\"")) return;
  if (cwd != "temp" && cwd.front() != '/') {
    return value.must_be("an absolute path, or \"temp\" for a fresh folder each time");
  }
  rule.child.edit().cwd = cwd;
}

void read_nice(const Value& value, Rule& rule) {
  int nice = 0;
  if (value.integer(nice, -20, 19)) rule.child.edit().nice = nice;
}

/// Less than this and no program would start.
constexpr std::uint64_t least_memory = mebibyte;

void read_memory_max(const Value& value, Rule& rule) {
  std::uint64_t most = 0;
  if (value.size(most, least_memory, std::numeric_limits<std::int64_t>::max()))
    rule.child.edit().memory_max = most;
}

void read_cpu_weight(const Value& value, Rule& rule) {
  unsigned weight = 0;
  if (value.integer(weight, 1, 10'000)) rule.child.edit().cpu_weight = weight;
}

void read_size(const Value& value, std::uint64_t min, std::uint64_t max, std::size_t& into) {
  std::uint64_t size = 0;
  if (value.size(size, min, max)) into = static_cast<std::size_t>(size);
}

constexpr Key<Rule> list_rows[] = {
    // Of lists only: see keys_of_lists_only.
    {"executor", "", [](auto& v, auto& rule) { v.path(rule.executor); }},
    {"command", "", read_command},
    // Of [defaults] too.
    {"args", "[]", [](auto& v, auto& rule) { v.texts(rule.args, "arguments", true); }},
    {"mode", R"("auto")", read_mode},
    {"requires", "[]",
     [](auto& v, auto& rule) { v.texts(rule.requires_caps, "capabilities", false); }},
    {"concurrency", "1", [](auto& v, auto& rule) { v.integer(rule.concurrency, 0, most_runs); }},
    {"fleet_concurrency", "0",
     [](auto& v, auto& rule) { v.integer(rule.fleet_concurrency, 0, million); }},
    {"weight", "1", [](auto& v, auto& rule) { v.integer(rule.weight, 1, million); }},
    {"enabled", "true", [](auto& v, auto& rule) { v.flag(rule.enabled); }},
    {"source", R"("circular")", read_source},
    {"key_expiry", R"("5s")", [](auto& v, auto& rule) { v.duration(rule.key_expiry, 1s); }},
    {"lock_key", R"("lock")",
     [](auto& v, auto& rule) {
       v.template choice<std::string>(rule.lock_key, {{"lock", "lock"}, {"proc", "proc"}});
     }},
    {"on_lease_loss", R"("continue")",
     [](auto& v, auto& rule) {
       v.template choice<OnLeaseLoss>(rule.on_lease_loss, {{"continue", OnLeaseLoss::keep_running},
                                                           {"terminate", OnLeaseLoss::terminate}});
     }},
    {"timeout", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.timeout); }},
    {"progress_timeout", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.progress_timeout); }},
    {"kill_grace", R"("10s")", [](auto& v, auto& rule) { v.duration(rule.kill_grace); }},
    {"cooldown", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.cooldown); }},
    {"backoff", R"({ min = "1s", max = "5m", factor = 2.0 })", read_backoff},
    {"max_failures", "0",
     [](auto& v, auto& rule) { v.integer(rule.max_failures, 0, 1000 * million); }},
    {"success_exit_codes", "[0]", read_exit_codes},
    {"env", "{}", read_env},
    {"env_pass", "[]", read_env_pass},
    {"env_file", "",
     [](auto& v, auto& rule) {
       v.trusted_path(rule.child.edit().env_file, Value::IfMissing::refused_later);
     }},
    {"env_var", "", read_env_var},
    {"cwd", R"("/")", read_cwd},
    {"user", "",
     [](auto& v, auto& rule) { read_account(v, "user", rule.child.edit().identity.user); }},
    {"group", "",
     [](auto& v, auto& rule) { read_account(v, "group", rule.child.edit().identity.group); }},
    {"umask", "", read_umask},
    {"nice", "", read_nice},
    {"rlimits", "{}", read_rlimits},
    {"memory_max", "", read_memory_max},
    {"cpu_weight", "", read_cpu_weight},
    {"no_new_privs", "true", [](auto& v, auto& rule) { v.flag(rule.child.edit().no_new_privs); }},
    {"max_line", R"("1MiB")",
     [](auto& v, auto& rule) { read_size(v, 1, 1024 * mebibyte, rule.max_line); }},
    {"stderr_tail", R"("64KiB")",
     [](auto& v, auto& rule) { read_size(v, 0, 64 * mebibyte, rule.stderr_tail); }},
    {"history", "1000", [](auto& v, auto& rule) { v.integer(rule.history, 0, million); }},
    {"processes", "1", [](auto& v, auto& rule) { v.integer(rule.processes, 1, most_runs); }},
    {"max_items", "0", [](auto& v, auto& rule) { v.integer(rule.max_items, 0, 1000 * million); }},
    {"max_age", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.max_age); }},
};

constexpr const char* no_schedule =
    "belongs to source = \"schedule\", which this version does not have yet; leave it out";
constexpr const char* no_job =
    "belongs to source = \"job\", which this version does not have yet; leave it out";
/// Found only where the rows of list_keys begin after these two, which is in [defaults].
constexpr const char* not_a_default =
    "may not stand in [defaults]; each list says itself what it runs";

constexpr Refused list_refused_rows[] = {
    {"queues", no_schedule},     {"dispatch", no_schedule},  {"on_failure", no_schedule},
    {"timefile", no_schedule},   {"claim_timeout", no_job},  {"maintenance_interval", no_job},
    {"executor", not_a_default}, {"command", not_a_default},
};

void not_for_a_command(const Value& list, const char* key, const std::string& why) {
  const Node* own = list.node().find(key);
  if (own != nullptr) return list.member(*own).wrong_key(why);
  list.wrong_key("takes " + std::string(key) + " from [defaults]; it " + why);
}

/// From [defaults] these mean the stream executors among the lists.
void not_for_streams(const Value& list, Rule& rule) {
  for (const char* key : {"processes", "max_items", "max_age"}) {
    const Node* own = list.node().find(key);
    if (own == nullptr) continue;
    list.member(*own).wrong_key(
        rule.is_command() ? "is for a stream executor; a command is one process per item"
                          : "is for mode = \"stream\" (or \"auto\"); this list is \"single\"");
  }
  const Rule fallback;
  rule.processes = fallback.processes;
  rule.max_items = fallback.max_items;
  rule.max_age = fallback.max_age;
}

/// What is about a run as a process of its own.
void not_for_single(const Value& list) {
  for (const char* key : {"env_var", "success_exit_codes"}) {
    const Node* own = list.node().find(key);
    if (own != nullptr)
      list.member(*own).wrong_key(
          "is about a process per item; this list's mode is \"stream\", with many items in one");
  }
}

/// MAX_ARG_STRLEN of Linux, with its final NUL.
constexpr std::size_t longest_argument = std::size_t{128} << 10;

/// An executor is called with the prefix as an argument.
void check_name(const Value& list, const Rule& rule) {
  if (rule.prefix.find('\0') != std::string::npos) {
    list.wrong_key(
        "has a NUL byte, and an executor is called with the prefix as an argument, which can't "
        "hold one; must be a prefix without NUL, or a command");
  } else if (rule.prefix.size() >= longest_argument) {
    list.wrong_key(
        "is longer than an argument can be, and an executor is called with it; must be "
        "shorter than 128 KiB, or a command");
  }
}

/// Most often it was forgotten. A command that names the item's variable knows what it does.
void warn_without_item(const Value& list, const Rule& rule) {
  const bool names_item =
      std::any_of(rule.command.begin(), rule.command.end(), [](const std::string& word) {
        return word.find("{}") != std::string::npos || word.find("W8Y_ITEM") != std::string::npos;
      });
  if (names_item || !rule.child->env_var.empty()) return;
  list.warn(
      "has no {} in its command, so each run is called alike; the item stands where {} "
      "stands, and in the variable W8Y_ITEM");
}

}  // namespace

const std::span<const Key<Rule>> list_keys = list_rows;
const std::span<const Refused> list_refused = list_refused_rows;

void check_list(const Value& list, Rule& rule) {
  const Node* executor = list.node().find("executor");
  const Node* command = list.node().find("command");
  if (executor != nullptr && command != nullptr) {
    return list.member(*command).wrong_key(
        "stands beside executor; a list has either an executor or a command");
  }
  if (executor == nullptr && command == nullptr) {
    return list.wrong_key(
        "has neither executor nor command; must have executor = \"/absolute/path\", or command = "
        "[\"program\", \"{}\"]");
  }
  if (rule.child->identity.user && !list.reading().root) {
    list.warn(
        "has a user, but w8yd does not run as root: the list is refused unless that is the same "
        "user");
  }
  if (command != nullptr || rule.mode == Mode::single) not_for_streams(list, rule);
  if (command == nullptr && rule.mode == Mode::stream) not_for_single(list);
  if (command == nullptr) return check_name(list, rule);
  warn_without_item(list.member(*command), rule);
  if (!rule.args.empty()) {
    not_for_a_command(list, "args", "is for an executor; arguments of a command stand in command");
  }
  if (!rule.requires_caps.empty()) {
    not_for_a_command(list, "requires", "is for an executor; a command is not asked for --caps");
  }
  if (rule.mode != Mode::automatic && list.node().find("mode") != nullptr) {
    not_for_a_command(list, "mode", "is for an executor; a command is one process per item");
  }
  // From [defaults] it means the executors among the lists.
  rule.mode = Mode::automatic;
}

}  // namespace w8y::core
