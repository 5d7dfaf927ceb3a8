// Keys of a list about its child processes and its backoff: tables and accounts.
#include <sys/resource.h>

#include <algorithm>

#include "core/config_keys.hpp"
#include "core/setting_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

using namespace std::chrono_literals;

/// The error text for names of variables.
constexpr const char* variable_name_rule =
    "the name of a variable: letters, digits and _, no digit first";

// A failing item is delayed for at least this time, so that it does not run in a busy loop.
constexpr Key<Backoff> backoff_rows[] = {
    {"min", R"("1s")", [](auto& v, auto& backoff) { v.duration(backoff.min, 1ms); },
     [](auto& backoff) { return as_text(backoff.min); }},
    {"max", R"("5m")", [](auto& v, auto& backoff) { v.duration(backoff.max, 1ms); },
     [](auto& backoff) { return as_text(backoff.max); }},
    {"factor", "2.0", [](auto& v, auto& backoff) { v.real(backoff.factor, 1, 1000); },
     [](auto& backoff) { return as_text(backoff.factor); }},
};

constexpr Limit limit_rows[] = {
    {"as", RLIMIT_AS, LimitUnit::size},
    {"core", RLIMIT_CORE, LimitUnit::size},
    {"cpu", RLIMIT_CPU, LimitUnit::seconds},
    {"data", RLIMIT_DATA, LimitUnit::size},
    {"fsize", RLIMIT_FSIZE, LimitUnit::size},
    {"locks", RLIMIT_LOCKS, LimitUnit::count},
    {"memlock", RLIMIT_MEMLOCK, LimitUnit::size},
    {"msgqueue", RLIMIT_MSGQUEUE, LimitUnit::size},
    {"nice", RLIMIT_NICE, LimitUnit::count},
    {"nofile", RLIMIT_NOFILE, LimitUnit::count},
    {"nproc", RLIMIT_NPROC, LimitUnit::count},
    {"rss", RLIMIT_RSS, LimitUnit::size},
    {"rtprio", RLIMIT_RTPRIO, LimitUnit::count},
    {"rttime", RLIMIT_RTTIME, LimitUnit::microseconds},
    {"sigpending", RLIMIT_SIGPENDING, LimitUnit::count},
    {"stack", RLIMIT_STACK, LimitUnit::size},
};

bool read_limit(const ConfigValue& value, LimitUnit unit, std::uint64_t& into) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (unit == LimitUnit::count) return value.integer(into, 0, most);
  if (unit == LimitUnit::size) return value.size(into, 0, static_cast<std::uint64_t>(most));
  Duration duration{0};
  if (!value.duration(duration)) return false;
  if (unit == LimitUnit::seconds && duration % 1s != Duration::zero()) {
    value.must_be("whole seconds");
    return false;
  }
  into = static_cast<std::uint64_t>(duration.count());
  if (unit == LimitUnit::seconds) into /= 1'000'000;
  return true;
}

}  // namespace

const std::span<const Key<Backoff>> backoff_keys = backoff_rows;
const std::span<const Limit> limits = limit_rows;

void read_backoff(const ConfigValue& value, ListConfig& rule) {
  const Node& node = value.node();
  if (node.kind == Node::Kind::flag && !node.flag) {
    rule.backoff.reset();
    return;
  }
  if (node.kind != Node::Kind::table) {
    return value.must_be("a table such as { min = \"1s\", max = \"5m\", factor = 2.0 }, or false");
  }
  Backoff backoff;
  const std::size_t before = value.reading().errors.size();
  read_table(value, backoff_keys, {}, backoff);
  if (value.reading().errors.size() != before) return;
  if (backoff.min > backoff.max) {
    return value.wrong("has a min of " + quote(format_duration(backoff.min)) + " and a max of " +
                       quote(format_duration(backoff.max)) + "; min must be at most max");
  }
  rule.backoff = backoff;
}

void read_rlimits(const ConfigValue& value, ListConfig& rule) {
  if (!value.is_table()) return;
  std::vector<ResourceLimit> found;
  const std::size_t before = value.reading().errors.size();
  for (const Node& member : value.node().items) {
    const ConfigValue item = value.member(member);
    const auto limit = std::find_if(limits.begin(), limits.end(),
                                    [&](const Limit& row) { return row.name == member.key; });
    if (limit == limits.end()) {
      item.wrong_key("is not a resource limit; " + did_you_mean(member.key, names_of(limits)));
      continue;
    }
    ResourceLimit result{limit->name, limit->resource, std::nullopt};
    std::uint64_t number = 0;
    const bool unlimited = member.kind == Node::Kind::text && member.text == "unlimited";
    if (!unlimited && read_limit(item, limit->unit, number)) result.value = number;
    found.push_back(std::move(result));
  }
  // Members are sorted by name, so the order of the limits has no effect.
  if (value.reading().errors.size() == before) rule.child.edit().rlimits = std::move(found);
}

void read_env(const ConfigValue& value, ListConfig& rule) {
  if (!value.is_table()) return;
  std::map<std::string, std::string> env;
  const std::size_t before = value.reading().errors.size();
  for (const Node& member : value.node().items) {
    ConfigValue item = value.member(member);
    item.keep_secret();
    if (!is_variable_name(member.key)) {
      item.wrong_key(std::string("must be ") + variable_name_rule);
    } else if (member.key.starts_with("W8Y_")) {
      item.wrong_key("must not start with W8Y_: those variables are set for each run");
    } else if (member.kind == Node::Kind::text && member.text.empty()) {
      env[member.key] = "";
    } else {
      item.text(env[member.key], "a string, in quotes");
    }
  }
  if (value.reading().errors.size() == before) rule.child.edit().env = std::move(env);
}

void read_env_pass(const ConfigValue& value, ListConfig& rule) {
  std::vector<std::string> names;
  if (!value.texts(names, "names of variables", false)) return;
  bool right = true;
  for (const Node& item : value.node().items) {
    if (is_variable_name(item.text) || item.text == "*") continue;
    value.member(item).must_be(std::string(variable_name_rule) + "; or \"*\" for all");
    right = false;
  }
  if (right) rule.child.edit().env_pass = std::move(names);
}

void read_umask(const ConfigValue& value, ListConfig& rule) {
  const Node& node = value.node();
  std::optional<std::int64_t> mask;
  if (node.kind == Node::Kind::integer) mask = node.integer;
  if (node.kind == Node::Kind::text && !node.text.empty() && node.text.size() <= 5 &&
      node.text.find_first_not_of("01234567") == std::string::npos) {
    mask = std::stol(node.text, nullptr, 8);
  }
  if (!mask || *mask < 0 || *mask > 0777) {
    return value.must_be(
        "octal, as a string such as \"022\" or a number such as 0o022, up to 0777");
  }
  rule.child.edit().umask = static_cast<unsigned>(*mask);
}

void read_account(const ConfigValue& value, const std::string& what,
                  std::optional<std::string>& into) {
  const Node& node = value.node();
  std::string account;
  // The last 32-bit number means "no change" to the kernel.
  constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max() - 1;
  if (node.kind == Node::Kind::integer && node.integer >= 0 && node.integer <= last) {
    account = std::to_string(node.integer);
  } else if (!value.text(account, "the name or number of a " + what)) {
    return;
  }
  into = account;
}

}  // namespace w8y::core
