#include <doctest/doctest.h>
#include <sys/resource.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/circular_settings.hpp"
#include "core/config.hpp"
#include "core/gearman_settings.hpp"
#include "core/job_settings.hpp"
#include "core/reload_plan.hpp"
#include "core/schedule_settings.hpp"

using namespace w8y;
using namespace std::chrono_literals;

namespace describe_test {
namespace {

/// List configs with one changed setting each.
const std::vector<std::function<void(ListConfig&)>>& rule_changes() {
  static const std::vector<std::function<void(ListConfig&)>> changes = {
      [](ListConfig& rule) { rule.executor = "/x"; },
      [](ListConfig& rule) { rule.command = {"x"}; },
      [](ListConfig& rule) {
        rule.command = {"x", ""};
      },
      [](ListConfig& rule) {
        rule.args = {"a", "b"};
      },
      [](ListConfig& rule) { rule.args = {"a\", \"b"}; },
      [](ListConfig& rule) { rule.mode = Mode::single; },
      [](ListConfig& rule) { rule.mode = Mode::stream; },
      [](ListConfig& rule) { rule.requires_caps = {"gpu"}; },
      [](ListConfig& rule) { rule.concurrency = 2; },
      [](ListConfig& rule) { rule.fleet_concurrency = 1; },
      [](ListConfig& rule) { rule.weight = 2; },
      [](ListConfig& rule) { rule.enabled = false; },
      [](ListConfig& rule) { rule.key_expiry = 6s; },
      [](ListConfig& rule) { rule.circular().lock_key = "proc"; },
      [](ListConfig& rule) { rule.on_lease_loss = OnLeaseLoss::terminate; },
      [](ListConfig& rule) { rule.timeout = 1us; },
      [](ListConfig& rule) { rule.progress_timeout = 1s; },
      [](ListConfig& rule) { rule.kill_grace = 11s; },
      [](ListConfig& rule) { rule.circular().cooldown = 1s; },
      [](ListConfig& rule) { rule.circular().overdue_after = 1s; },
      [](ListConfig& rule) { rule.backoff.reset(); },
      [](ListConfig& rule) { rule.backoff->min = 2s; },
      [](ListConfig& rule) { rule.backoff->max = 2s; },
      [](ListConfig& rule) { rule.backoff->factor = 2.0000001; },
      [](ListConfig& rule) { rule.max_failures = 1; },
      [](ListConfig& rule) {
        rule.child.edit().success_exit_codes = {0, 1};
      },
      [](ListConfig& rule) {
        rule.child.edit().env = {{"A", "1"}};
      },
      [](ListConfig& rule) {
        rule.child.edit().env = {{"A", "2"}};
      },
      [](ListConfig& rule) {
        rule.child.edit().env = {{"B", "1"}};
      },
      [](ListConfig& rule) { rule.child.edit().env_pass = {"*"}; },
      [](ListConfig& rule) { rule.child.edit().env_file = "/x"; },
      [](ListConfig& rule) { rule.child.edit().env_var = "X"; },
      [](ListConfig& rule) { rule.child.edit().cwd = "temp"; },
      [](ListConfig& rule) { rule.child.edit().run_as.user = "u"; },
      [](ListConfig& rule) { rule.child.edit().run_as.group = "u"; },
      [](ListConfig& rule) { rule.child.edit().umask = 0; },
      [](ListConfig& rule) { rule.child.edit().nice = 0; },
      [](ListConfig& rule) {
        rule.child.edit().rlimits = {{"as", RLIMIT_AS, 1}};
      },
      [](ListConfig& rule) {
        rule.child.edit().rlimits = {{"as", RLIMIT_AS, std::nullopt}};
      },
      [](ListConfig& rule) { rule.child.edit().memory_max = 1 << 20; },
      [](ListConfig& rule) { rule.child.edit().cpu_weight = 100; },
      [](ListConfig& rule) { rule.child.edit().no_new_privs = false; },
      [](ListConfig& rule) { rule.max_line = 1; },
      [](ListConfig& rule) { rule.stderr_tail = 1; },
      [](ListConfig& rule) { rule.keep_output = true; },
      [](ListConfig& rule) { rule.result = ResultKind::output; },
      [](ListConfig& rule) { rule.result = ResultKind::json; },
      [](ListConfig& rule) { rule.max_result = 1; },
      [](ListConfig& rule) { rule.history.runs = 1; },
      [](ListConfig& rule) { rule.history.bytes = 1; },
      [](ListConfig& rule) { rule.failed_history.runs = 1; },
      [](ListConfig& rule) { rule.failed_history.age = 60s; },
      [](ListConfig& rule) { rule.failed_history.bytes = 1; },
      [](ListConfig& rule) { rule.processes = 2; },
      [](ListConfig& rule) { rule.max_items = 1; },
      [](ListConfig& rule) { rule.max_age = 1s; },
      [](ListConfig& rule) { rule.source = ScheduleSettings{}; },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, ""};
      },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{"A", "A"}, true, OnFailure::die, ""};
      },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{}, false, OnFailure::die, ""};
      },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{}, true, OnFailure::backoff, ""};
      },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{}, true, OnFailure::die, "/t"};
      },
      [](ListConfig& rule) {
        rule.source = ScheduleSettings{{}, true, OnFailure::die, "", CatchUp::all};
      },
      [](ListConfig& rule) { rule.source = JobSettings{}; },
      [](ListConfig& rule) {
        rule.source = JobSettings{1s, 60s};
      },
      [](ListConfig& rule) {
        rule.source = JobSettings{0s, 61s};
      },
  };
  return changes;
}

const std::vector<std::function<void(Config&)>>& config_changes() {
  static const std::vector<std::function<void(Config&)>> changes = {
      [](Config& config) { config.redis.url = "redis://x"; },
      [](Config& config) { config.redis.url = "redis://:a@x"; },
      [](Config& config) { config.redis.url = "redis://:b@x"; },
      [](Config& config) { config.redis.password_file = "/x"; },
      [](Config& config) { config.redis.connect_timeout = 1s; },
      [](Config& config) { config.redis.command_timeout = 1s; },
      [](Config& config) { config.redis.idle_commands = 1; },
      [](Config& config) { config.supervisor.fleet = "f"; },
      [](Config& config) { config.supervisor.status = {"unix:/x"}; },
      [](Config& config) { config.supervisor.log_level = LogLevel::warn; },
      [](Config& config) { config.supervisor.log_format = LogFormat::json; },
      [](Config& config) { config.supervisor.log_file = "/x"; },
      [](Config& config) { config.supervisor.drain_timeout = 1s; },
      [](Config& config) { config.supervisor.probe_timeout = 1s; },
      [](Config& config) { config.supervisor.probe_interval = 1s; },
      [](Config& config) { config.supervisor.host_concurrency = 1; },
      [](Config& config) { config.lists["a"] = std::make_shared<ListConfig>(); },
      [](Config& config) { config.lists["b"] = std::make_shared<ListConfig>(); },
  };
  return changes;
}

std::set<std::string> names(const Settings& settings) {
  std::set<std::string> names;
  for (const auto& [name, value] : settings) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("descriptions have the keys of the config") {
  std::set<std::string> redis;
  std::set<std::string> supervisor;
  std::set<std::string> list;
  for (const KnownKey& key : known_keys()) {
    if (key.section == "redis") redis.insert(key.name);
    if (key.section == "supervisor") supervisor.insert(key.name);
    if (key.section == "lists") list.insert(key.name);
  }
  CHECK(names(describe(RedisSettings{})) == redis);
  CHECK(names(describe(SupervisorSettings{})) == supervisor);
  CHECK(describe(GearmanServers{}).empty());
  GearmanServers servers;
  servers.servers = {{"h", 1}};
  CHECK(names(describe(servers)) == std::set<std::string>{"servers", "connect_timeout"});
  ListConfig schedule;
  schedule.source = ScheduleSettings{};
  std::set<std::string> all = names(describe(ListConfig{}));
  all.merge(names(describe(schedule)));
  ListConfig jobs;
  jobs.source = JobSettings{};
  all.merge(names(describe(jobs)));
  ListConfig gearman;
  gearman.source = GearmanSettings{};
  all.merge(names(describe(gearman)));
  CHECK(all == list);
}

TEST_CASE("two list configs have equal descriptions and secrets only if they are equal") {
  std::vector<ListConfig> rules(1);
  for (const auto& change : rule_changes()) change(rules.emplace_back());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t j = 0; j < rules.size(); ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const bool same =
          describe(rules[i]) == describe(rules[j]) && secrets_of(rules[i]) == secrets_of(rules[j]);
      CHECK(same == (i == j));
      CHECK((rules[i] == rules[j]) == (i == j));
    }
  }
}

TEST_CASE("the config hash differs for any two configs, but not between hosts") {
  std::vector<Config> configs(1);
  for (const auto& change : config_changes()) change(configs.emplace_back());
  for (const auto& change : rule_changes()) {
    auto rule = std::make_shared<ListConfig>();
    change(*rule);
    configs.emplace_back().lists["a"] = rule;
  }
  std::set<std::string> hashes;
  for (Config& config : configs) {
    if (!config.supervisor.status.empty()) continue;
    set_hashes(config);
    const std::string hash = config.hash;
    CHECK(hash.size() == 16);
    CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(hashes.insert(hash).second);
    config.supervisor.host = "another";
    config.supervisor.status = {"unix:/y"};
    config.warnings = {"w"};
    set_hashes(config);
    CHECK(config.hash == hash);
  }
}

TEST_CASE("hashes of unchanged lists are kept, and those of other lists are computed") {
  const auto rule = [](const char* prefix, unsigned concurrency) {
    ListConfig made;
    made.prefix = prefix;
    made.concurrency = concurrency;
    return std::make_shared<const ListConfig>(made);
  };
  Config before;
  for (const char* prefix : {"a", "c", "d", "e"}) before.lists[prefix] = rule(prefix, 1);
  Config after = before;
  after.lists.erase("a");
  after.lists["b"] = rule("b", 1);
  after.lists["d"] = rule("d", 2);
  after.lists["f"] = rule("f", 1);
  set_hashes(before);
  const auto made = before.list_hashes;
  set_hashes(after, before);
  Config alone = after;
  set_hashes(alone);
  CHECK(after.hash == alone.hash);
  CHECK(after.list_hashes == alone.list_hashes);
  before.list_hashes = {1, 2, 3, 4};
  set_hashes(after, before);
  REQUIRE(after.list_hashes.size() == 5);
  CHECK(after.list_hashes[1] == 2);  // c
  CHECK(after.list_hashes[3] == 4);  // e
  CHECK(after.list_hashes[2] != made[2]);
  CHECK(after.list_hashes[2] > 4);
}

TEST_CASE("descriptions show values in the syntax of the config") {
  ListConfig rule;
  rule.command = {"convert", "{}", "a\"b\n"};
  rule.timeout = 90min;
  rule.child.edit().umask = 022;
  rule.child.edit().success_exit_codes = {0, 3};
  rule.child.edit().rlimits = {{"as", RLIMIT_AS, 1 << 30},
                               {"cpu", RLIMIT_CPU, 3600},
                               {"nofile", RLIMIT_NOFILE, 10},
                               {"rttime", RLIMIT_RTTIME, 1500},
                               {"stack", RLIMIT_STACK, std::nullopt}};
  Settings settings = describe(rule);
  CHECK(settings["command"] == "[\"convert\", \"{}\", \"a\\\"b\\n\"]");
  CHECK(settings["timeout"] == "1h30m");
  CHECK(settings["concurrency"] == "1");
  CHECK(settings["umask"] == "022");
  CHECK(settings["nice"].empty());
  CHECK(settings["executor"].empty());
  CHECK(settings["success_exit_codes"] == "[0, 3]");
  CHECK(settings["backoff"] == "{ min = \"1s\", max = \"5m\", factor = 2 }");
  CHECK(settings["rlimits"] ==
        "{ as = \"1GiB\", cpu = \"1h\", nofile = 10, rttime = \"1.5ms\", stack = \"unlimited\" }");
  CHECK(settings["max_line"] == "1MiB");
}

TEST_CASE("descriptions show neither secrets nor their hashes") {
  ListConfig rule;
  rule.child.edit().env = {{"TOKEN", "hunter2"}, {"USER", "x"}};
  CHECK(describe(rule)["env"] == "{ TOKEN = (hidden), USER = (hidden) }");
  CHECK(secrets_of(rule) == Secrets{{"env.TOKEN", "hunter2"}, {"env.USER", "x"}});

  for (const auto& [url, password] :
       {std::pair("redis://u:hunter2@h", "hunter2"), std::pair("redis://:hunter2@h:1/2", "hunter2"),
        std::pair("redis://u:hunt/hunter2@h", "hunt/hunter2"),
        std::pair("redis://u:a@hunter2@h", "a@hunter2")}) {
    RedisSettings redis;
    redis.url = url;
    const std::string text = describe(redis)["url"];
    CAPTURE(text);
    CHECK(text.find("hunter2") == std::string::npos);
    CHECK(text.find(":(hidden)@h") != std::string::npos);
    CHECK(secrets_of(redis) == Secrets{{"url.password", password}});
  }
  RedisSettings redis;
  redis.url = "redis://user@h:1";
  CHECK(describe(redis)["url"] == "redis://user@h:1");
  CHECK(secrets_of(redis).empty());
}

TEST_CASE("the digest of a secret depends on a salt") {
  CHECK(secret_digest("a", "hunter2") == secret_digest("a", "hunter2"));
  CHECK(secret_digest("a", "hunter2") != secret_digest("b", "hunter2"));
  CHECK(secret_digest("a", "hunter2") != secret_digest("a", "hunter3"));
  CHECK(secret_digest("ab", "c") != secret_digest("a", "bc"));
}

namespace {
Config with_secrets(const std::string& url, const std::string& token) {
  Config config;
  config.redis.url = url;
  for (const char* prefix : {"a", "b"}) {
    auto rule = std::make_shared<ListConfig>();
    rule->prefix = prefix;
    rule->child.edit().env = {{"SAME", "s"}, {"TOKEN", prefix + token}};
    config.lists[prefix] = rule;
  }
  return config;
}
}  // namespace

TEST_CASE("a changed secret appears in the plan as changed, for one process and between two") {
  const Config before = with_secrets("redis://u:one@h", "1");
  Config after = with_secrets("redis://u:two@h", "2");
  after.lists.erase("b");
  after.lists["c"] = after.lists["a"];
  const std::vector<std::string> lines = {"redis: url.password: changed",
                                          "lists.a: env.TOKEN: changed",
                                          "lists.b: removed, its runs finish", "lists.c: added"};
  CHECK(plan_reload(before, after).lines() == lines);

  const ConfigText shown = describe(before);
  ReloadPlan plan = plan_reload(shown, describe(after));
  CHECK(plan.lines() ==
        std::vector<std::string>{"lists.b: removed, its runs finish", "lists.c: added"});
  for (const SecretQuestion& question : secrets_to_compare(shown, after, "salt"))
    if (compare_secret(before, question, "salt") == SecretAnswer::changed)
      add_changed_secret(plan, question);
  CHECK(plan.lines() == lines);
  CHECK(compare_secret(before, {"none", "env.TOKEN", ""}, "salt") == SecretAnswer::none);
  CHECK(compare_secret(before, {"a", "env.NONE", ""}, "salt") == SecretAnswer::none);
}

}  // namespace describe_test
