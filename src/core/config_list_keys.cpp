// The keys of a list: how each is read and shown, and the lists to which it applies.
#include <algorithm>
#include <concepts>

#include "core/circular_settings.hpp"
#include "core/config_gearman.hpp"
#include "core/config_keys.hpp"
#include "core/gearman_settings.hpp"
#include "core/job_code.hpp"
#include "core/job_settings.hpp"
#include "core/number.hpp"
#include "core/schedule_settings.hpp"
#include "core/setting_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

/// The claims from all queues are in one Redis command.
constexpr std::size_t max_queues = 1000;
/// Maximum number of runs in the window of a breaker. Redis stores the window in one value.
constexpr std::int64_t max_breaker_runs = 1000;
constexpr std::int64_t million = 1'000'000;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

void read_command(const ConfigValue& value, ListConfig& rule) {
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

constexpr Choice<Mode> modes[] = {
    {"auto", Mode::automatic}, {"single", Mode::single}, {"stream", Mode::stream}};
constexpr auto kinds = [] {
  std::array<Choice<SourceKind>, source_kind_count> all{};
  for (const KindTraits& row : kind_rows) all[row.index()] = {row.name, row.kind};
  return all;
}();
constexpr Choice<OnFailure> on_failures[] = {{"die", OnFailure::die},
                                             {"reschedule", OnFailure::reschedule},
                                             {"backoff", OnFailure::backoff}};
constexpr Choice<CatchUp> catch_ups[] = {
    {"one", CatchUp::one}, {"all", CatchUp::all}, {"none", CatchUp::none}};
constexpr unsigned schedule_only = traits_of(SourceKind::schedule).bit();
constexpr unsigned circular_only = traits_of(SourceKind::circular).bit();
constexpr unsigned job_only = traits_of(SourceKind::job).bit();
constexpr unsigned gearman_only = traits_of(SourceKind::gearman).bit();
constexpr unsigned in_redis = all_kinds & ~gearman_only;
constexpr Choice<ResultKind> command_results[] = {
    {"none", ResultKind::none}, {"stdout", ResultKind::output}, {"json", ResultKind::json}};
constexpr Choice<OnLeaseLoss> lease_losses[] = {{"continue", OnLeaseLoss::keep_running},
                                                {"terminate", OnLeaseLoss::terminate}};

void read_source(const ConfigValue& value, ListConfig& rule) {
  SourceKind kind = rule.kind();
  value.choice<SourceKind>(kind, kinds);
  if (kind != rule.kind()) rule.source = SourceSettings::of(kind);
}

void read_lock_key(const ConfigValue& value, ListConfig& rule) {
  static const Choice<std::string> names[] = {{"lock", "lock"}, {"proc", "proc"}};
  value.choice<std::string>(rule.circular().lock_key, names);
}

void read_queues(const ConfigValue& value, ListConfig& rule) {
  std::string text;
  if (!value.text(text, "codes of queues, separated by colons, such as \"A:A:B\"")) return;
  std::vector<std::string> codes;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto colon = rest.find(':');
    const std::string code(rest.substr(0, colon));
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
    if (code.empty()) {
      return value.wrong("is " + quote_start(text) +
                         ", which has an empty code; must be codes of queues, separated "
                         "by single colons, such as \"A:A:B\"");
    }
    if (const std::string error = code_error(code); !error.empty())
      return value.wrong("has the code " + quote_start(code) + ": " + error);
    codes.push_back(code);
  }
  if (codes.size() > max_queues) {
    return value.wrong("has " + std::to_string(codes.size()) + " codes; must have at most " +
                       std::to_string(max_queues));
  }
  rule.schedule().queues = std::move(codes);
}

/// Reads a key prefix. A final ':' is ignored, as in the name of a list.
void read_key_prefix(const ConfigValue& value, ListConfig& rule) {
  std::string prefix;
  if (!value.text(prefix, "a key prefix, such as \"redbike\"")) return;
  if (prefix == ":") return value.must_be("a key prefix, such as \"redbike\"");
  if (prefix.ends_with(':')) prefix.pop_back();
  rule.schedule().key_prefix = std::move(prefix);
}

std::string show_queues(const ListConfig& rule) {
  std::string text;
  for (const std::string& code : rule.schedule().queues) text += (text.empty() ? "" : ":") + code;
  return text;
}

void read_exit_codes(const ConfigValue& value, ListConfig& rule) {
  std::vector<int> codes;
  if (value.node().kind != Node::Kind::array || value.node().items.empty()) {
    return value.must_be("an array of at least one exit code, such as [0, 3]");
  }
  const std::size_t before = value.reading().errors.size();
  for (const Node& item : value.node().items) {
    int code = 0;
    if (value.member(item).integer(code, 0, 255)) codes.push_back(code);
  }
  if (value.reading().errors.size() != before) return;
  // Their order and number have no meaning, so equal sets of codes are equal settings.
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  rule.child.edit().success_exit_codes = std::move(codes);
}

void read_alert_failures(const ConfigValue& value, ListConfig& rule) {
  std::string text;
  if (!value.text(text, "a percentage, such as \"10%\"")) return;
  const auto percent =
      text.ends_with('%')
          ? read_integer(std::string_view(text).substr(0, text.size() - 1), {0, 100})
          : std::nullopt;
  if (!percent) return value.must_be("a percentage from \"0%\" to \"100%\", such as \"10%\"");
  rule.alert_failures = static_cast<std::uint8_t>(*percent);
}

void read_breaker(const ConfigValue& value, ListConfig& rule) {
  if (value.node().kind == Node::Kind::flag && !value.node().flag) {
    rule.breaker = {};
    return;
  }
  std::string text;
  if (!value.text(text, "failures among the last runs, such as \"80% of 20\", or false")) return;
  constexpr std::string_view between = "% of ";
  const std::string_view whole = text;
  const auto at = whole.find(between);
  const auto percent =
      at == std::string_view::npos ? std::nullopt : read_integer(whole.substr(0, at), {1, 100});
  const auto runs = percent ? read_integer(whole.substr(at + between.size()), {2, max_breaker_runs})
                            : std::nullopt;
  if (!runs) {
    return value.must_be("a percentage from 1% to 100% of 2 to " +
                         std::to_string(max_breaker_runs) +
                         " runs, such as \"80% of 20\", or false");
  }
  rule.breaker = {static_cast<std::uint16_t>(*percent), static_cast<std::uint16_t>(*runs)};
}

std::string show_breaker(const ListConfig& rule) {
  if (rule.breaker.runs == 0) return "false";
  return std::to_string(rule.breaker.percent) + "% of " + std::to_string(rule.breaker.runs);
}

void read_env_var(const ConfigValue& value, ListConfig& rule) {
  std::string name;
  if (!value.text(name, "the name of a variable")) return;
  if (!is_variable_name(name) || name.starts_with("W8Y_")) {
    return value.must_be(
        "the name of a variable: letters, digits and _, no digit first, not starting with W8Y_");
  }
  rule.child.edit().env_var = name;
}

void read_cwd(const ConfigValue& value, ListConfig& rule) {
  std::string cwd;
  if (!value.text(cwd, "an absolute path or \"temp\"")) return;
  if (cwd != "temp" && cwd.front() != '/') {
    return value.must_be("an absolute path, or \"temp\" for a new directory for each run");
  }
  rule.child.edit().cwd = cwd;
}

void read_nice(const ConfigValue& value, ListConfig& rule) {
  int nice = 0;
  if (value.integer(nice, -20, 19)) rule.child.edit().nice = nice;
}

void read_maintenance_feed(const ConfigValue& value, ListConfig& rule) {
  std::string feed;
  if (!value.text(feed, "the name of a feed")) return;
  if (feed == rule.prefix) return value.must_be("another feed than that of the list");
  rule.job().maintenance_feed = std::move(feed);
}

/// No program starts with less memory.
constexpr std::uint64_t min_memory = mebibyte;

void read_memory_max(const ConfigValue& value, ListConfig& rule) {
  std::uint64_t most = 0;
  if (value.size(most, min_memory, std::numeric_limits<std::int64_t>::max()))
    rule.child.edit().memory_max = most;
}

void read_cpu_weight(const ConfigValue& value, ListConfig& rule) {
  unsigned weight = 0;
  if (value.integer(weight, 1, 10'000)) rule.child.edit().cpu_weight = weight;
}

template <std::unsigned_integral T>
void read_size(const ConfigValue& value, std::uint64_t min, std::uint64_t max, T& into) {
  std::uint64_t size = 0;
  if (value.size(size, min, max)) into = static_cast<T>(size);
}

std::string show_command(const ListConfig& rule) {
  return rule.command->empty() ? "" : as_text(*rule.command);
}

std::string show_memory(const ListConfig& rule) {
  return rule.child->memory_max ? format_size(*rule.child->memory_max) : "";
}

// ---- keys that are not for every list

constexpr const char* one_process = "is for a stream executor; a command is one process per item";
constexpr const char* no_stream = "is for mode = \"stream\" (or \"auto\"); this list is \"single\"";
constexpr const char* own_result =
    "is for a command; an executor sends its result in a complete message";
constexpr const char* many_items =
    "is for one process per item; with mode = \"stream\", a process has many items";

constexpr OnlyFor<ListConfig> for_executors(void (*copy)(const ListConfig&, ListConfig&),
                                            const char* why_not) {
  return {Form::single | Form::stream, copy, why_not};
}
constexpr OnlyFor<ListConfig> for_streams(void (*copy)(const ListConfig&, ListConfig&)) {
  return {static_cast<unsigned>(Form::stream), copy, one_process, no_stream};
}
constexpr OnlyFor<ListConfig> for_commands(void (*copy)(const ListConfig&, ListConfig&)) {
  return {static_cast<unsigned>(Form::command), copy, nullptr, own_result};
}
constexpr OnlyFor<ListConfig> for_processes(void (*copy)(const ListConfig&, ListConfig&)) {
  return {Form::command | Form::single, copy, nullptr, many_items};
}

constexpr Key<ListConfig> list_rows[] = {
    // For lists only: see keys_of_lists_only.
    {"executor", "", [](auto& v, auto& rule) { v.path(rule.executor.edit()); },
     [](auto& rule) { return *rule.executor; }},
    {"command", "", read_command, show_command},
    // For [defaults] as well.
    {"args", "[]", [](auto& v, auto& rule) { v.texts(rule.args.edit(), "arguments", true); },
     [](auto& rule) { return as_text(*rule.args); },
     for_executors([](auto& from, auto& into) { into.args = from.args; },
                   "is for an executor; arguments of a command belong in command")},
    {"mode", R"("auto")", [](auto& v, auto& rule) { v.template choice<Mode>(rule.mode, modes); },
     [](auto& rule) { return name_of<Mode>(modes, rule.mode); },
     for_executors([](auto& from, auto& into) { into.mode = from.mode; },
                   "is for an executor; a command is one process per item")},
    {"requires", "[]",
     [](auto& v, auto& rule) { v.texts(rule.requires_caps.edit(), "capabilities", false); },
     [](auto& rule) { return as_text(*rule.requires_caps); },
     for_executors([](auto& from, auto& into) { into.requires_caps = from.requires_caps; },
                   "is for an executor; a command is not called with --caps")},
    {"concurrency", "1",
     [](auto& v, auto& rule) { read_count(v, 0, rule.concurrency, rule.concurrency_share); },
     [](auto& rule) { return show_count(rule.concurrency, rule.concurrency_share); }},
    {"fleet_concurrency", "0",
     [](auto& v, auto& rule) { v.integer(rule.fleet_concurrency, 0, million); },
     [](auto& rule) { return as_text(rule.fleet_concurrency); }, std::nullopt, in_redis},
    {"weight", "1", [](auto& v, auto& rule) { v.integer(rule.weight, 1, million); },
     [](auto& rule) { return as_text(rule.weight); }},
    {"enabled", "true", [](auto& v, auto& rule) { v.flag(rule.enabled); },
     [](auto& rule) { return as_text(rule.enabled); }},
    {"source", R"("circular")", read_source,
     [](auto& rule) { return std::string(rule.traits().name); }},
    {"key_expiry", R"("5s")", [](auto& v, auto& rule) { v.duration(rule.key_expiry, 1s); },
     [](auto& rule) { return as_text(rule.key_expiry); }, std::nullopt, in_redis},
    {"lock_key", R"("lock")", read_lock_key, [](auto& rule) { return rule.circular().lock_key; },
     std::nullopt, circular_only},
    {"on_lease_loss", R"("continue")",
     [](auto& v, auto& rule) { v.template choice<OnLeaseLoss>(rule.on_lease_loss, lease_losses); },
     [](auto& rule) { return name_of<OnLeaseLoss>(lease_losses, rule.on_lease_loss); }},
    {"timeout", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.timeout); },
     [](auto& rule) { return as_text(rule.timeout); }},
    {"progress_timeout", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.progress_timeout); },
     [](auto& rule) { return as_text(rule.progress_timeout); }},
    {"kill_grace", R"("10s")", [](auto& v, auto& rule) { v.duration(rule.kill_grace); },
     [](auto& rule) { return as_text(rule.kill_grace); }},
    {"cooldown", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.circular().cooldown); },
     [](auto& rule) { return as_text(rule.circular().cooldown); }, std::nullopt, circular_only},
    {"overdue_after", R"("0s")",
     [](auto& v, auto& rule) { v.duration(rule.circular().overdue_after); },
     [](auto& rule) { return as_text(rule.circular().overdue_after); }, std::nullopt,
     circular_only},
    {"backoff", R"({ min = "1s", max = "5m", factor = 2.0 })", read_backoff,
     [](auto& rule) { return as_text(rule.backoff); }, std::nullopt, in_redis},
    {"max_failures", "0",
     [](auto& v, auto& rule) { v.integer(rule.max_failures, 0, 1000 * million); },
     [](auto& rule) { return as_text(rule.max_failures); }, std::nullopt, in_redis},
    {"breaker", "false", read_breaker, show_breaker, std::nullopt, in_redis},
    {"alert_failures", R"("10%")", read_alert_failures,
     [](auto& rule) { return std::to_string(rule.alert_failures) + "%"; }},
    {"success_exit_codes", "[0]", read_exit_codes,
     [](auto& rule) { return as_text(rule.child->success_exit_codes); },
     for_processes([](auto& from, auto& into) {
       into.child.edit().success_exit_codes = from.child->success_exit_codes;
     })},
    {"env", "{}", read_env, [](auto& rule) { return as_text(rule.child->env); }},
    {"env_pass", "[]", read_env_pass, [](auto& rule) { return as_text(rule.child->env_pass); }},
    {"env_file", "",
     [](auto& v, auto& rule) {
       v.trusted_path(rule.child.edit().env_file, ConfigValue::IfMissing::refused_later);
     },
     [](auto& rule) { return rule.child->env_file; }},
    {"env_var", "", read_env_var, [](auto& rule) { return rule.child->env_var; },
     for_processes(
         [](auto& from, auto& into) { into.child.edit().env_var = from.child->env_var; })},
    {"cwd", R"("/")", read_cwd, [](auto& rule) { return rule.child->cwd; }},
    {"user", "",
     [](auto& v, auto& rule) { read_account(v, "user", rule.child.edit().run_as.user); },
     [](auto& rule) { return as_text(rule.child->run_as.user); }},
    {"group", "",
     [](auto& v, auto& rule) { read_account(v, "group", rule.child.edit().run_as.group); },
     [](auto& rule) { return as_text(rule.child->run_as.group); }},
    {"umask", "", read_umask, [](auto& rule) { return octal_text(rule.child->umask); }},
    {"nice", "", read_nice, [](auto& rule) { return as_text(rule.child->nice); }},
    {"rlimits", "{}", read_rlimits, [](auto& rule) { return as_text(rule.child->rlimits); }},
    {"memory_max", "", read_memory_max, show_memory},
    {"cpu_weight", "", read_cpu_weight, [](auto& rule) { return as_text(rule.child->cpu_weight); }},
    {"no_new_privs", "true", [](auto& v, auto& rule) { v.flag(rule.child.edit().no_new_privs); },
     [](auto& rule) { return as_text(rule.child->no_new_privs); }},
    {"max_line", R"("1MiB")",
     [](auto& v, auto& rule) { read_size(v, 1, 1024 * mebibyte, rule.max_line); },
     [](auto& rule) { return format_size(rule.max_line); }},
    {"stderr_tail", R"("64KiB")",
     [](auto& v, auto& rule) { read_size(v, 0, 64 * mebibyte, rule.stderr_tail); },
     [](auto& rule) { return format_size(rule.stderr_tail); }},
    {"keep_output", "false", [](auto& v, auto& rule) { v.flag(rule.keep_output); },
     [](auto& rule) { return as_text(rule.keep_output); }},
    {"result", R"("none")",
     [](auto& v, auto& rule) { v.template choice<ResultKind>(rule.result, command_results); },
     [](auto& rule) { return name_of<ResultKind>(command_results, rule.result); },
     for_commands([](auto& from, auto& into) { into.result = from.result; })},
    {"max_result", R"("1MiB")",
     [](auto& v, auto& rule) { read_size(v, 1, 16 * mebibyte, rule.max_result); },
     [](auto& rule) { return format_size(rule.max_result); },
     for_commands([](auto& from, auto& into) { into.max_result = from.max_result; })},
    {"history", "1000", [](auto& v, auto& rule) { v.integer(rule.history.runs, 0, million); },
     [](auto& rule) { return as_text(rule.history.runs); }},
    {"history_bytes", R"("16MiB")",
     [](auto& v, auto& rule) { read_size(v, 1024, 1024 * mebibyte, rule.history.bytes); },
     [](auto& rule) { return format_size(rule.history.bytes); }},
    {"failed_history", "1000",
     [](auto& v, auto& rule) { v.integer(rule.failed_history.runs, 0, million); },
     [](auto& rule) { return as_text(rule.failed_history.runs); }},
    {"failed_for", R"("7d")",
     [](auto& v, auto& rule) { v.duration(rule.failed_history.age, 1min); },
     [](auto& rule) { return as_text(rule.failed_history.age); }},
    {"failed_history_bytes", R"("16MiB")",
     [](auto& v, auto& rule) { read_size(v, 1024, 1024 * mebibyte, rule.failed_history.bytes); },
     [](auto& rule) { return format_size(rule.failed_history.bytes); }},
    {"key_prefix", "", read_key_prefix, [](auto& rule) { return rule.bare_key_prefix(); },
     std::nullopt, schedule_only},
    {"queues", "", read_queues, show_queues, std::nullopt, schedule_only},
    {"dispatch", "true", [](auto& v, auto& rule) { v.flag(rule.schedule().dispatch); },
     [](auto& rule) { return as_text(rule.schedule().dispatch); }, std::nullopt, schedule_only},
    {"on_failure", R"("die")",
     [](auto& v, auto& rule) {
       v.template choice<OnFailure>(rule.schedule().on_failure, on_failures);
     },
     [](auto& rule) { return name_of<OnFailure>(on_failures, rule.schedule().on_failure); },
     std::nullopt, schedule_only},
    {"catch_up", R"("one")",
     [](auto& v, auto& rule) { v.template choice<CatchUp>(rule.schedule().catch_up, catch_ups); },
     [](auto& rule) { return name_of<CatchUp>(catch_ups, rule.schedule().catch_up); }, std::nullopt,
     schedule_only},
    {"timefile", "",
     [](auto& v, auto& rule) {
       v.trusted_path(rule.schedule().timefile, ConfigValue::IfMissing::refused_later);
     },
     [](auto& rule) { return rule.schedule().timefile; }, std::nullopt, schedule_only},
    {"claim_timeout", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.job().claim_timeout); },
     [](auto& rule) { return as_text(rule.job().claim_timeout); }, std::nullopt, job_only},
    {"maintenance_interval", R"("60s")",
     [](auto& v, auto& rule) { v.duration(rule.job().maintenance_interval, 1s); },
     [](auto& rule) { return as_text(rule.job().maintenance_interval); }, std::nullopt, job_only},
    {"maintenance_feed", "", read_maintenance_feed,
     [](auto& rule) { return rule.job().maintenance_feed; }, std::nullopt, job_only},
    {"function", "", [](auto& v, auto& rule) { read_function(v, rule.gearman().function); },
     [](auto& rule) { return rule.gearman().function; }, std::nullopt, gearman_only},
    {"processes", "1",
     [](auto& v, auto& rule) { read_count(v, 1, rule.processes, rule.processes_share); },
     [](auto& rule) { return show_count(rule.processes, rule.processes_share); },
     for_streams([](auto& from, auto& into) {
       into.processes = from.processes;
       into.processes_share = from.processes_share;
     })},
    {"max_items", "0", [](auto& v, auto& rule) { v.integer(rule.max_items, 0, 1000 * million); },
     [](auto& rule) { return as_text(rule.max_items); },
     for_streams([](auto& from, auto& into) { into.max_items = from.max_items; })},
    {"max_age", R"("0s")", [](auto& v, auto& rule) { v.duration(rule.max_age); },
     [](auto& rule) { return as_text(rule.max_age); },
     for_streams([](auto& from, auto& into) { into.max_age = from.max_age; })},
};

/// Only [defaults] finds these, because its rows of list_keys start after these two.
constexpr const char* not_a_default = "may not be in [defaults]; each list names its own program";

constexpr Refused list_refused_rows[] = {
    {"executor", not_a_default},
    {"command", not_a_default},
};

}  // namespace

const std::span<const Key<ListConfig>> list_keys = list_rows;
const std::span<const Refused> list_refused = list_refused_rows;

const std::vector<const Key<ListConfig>*>& list_keys_by_name() {
  static const std::vector<const Key<ListConfig>*> sorted = [] {
    std::vector<const Key<ListConfig>*> rows;
    for (const Key<ListConfig>& row : list_rows) rows.push_back(&row);
    std::sort(rows.begin(), rows.end(),
              [](const auto* a, const auto* b) { return std::string_view(a->name) < b->name; });
    return rows;
  }();
  return sorted;
}

}  // namespace w8y::core
