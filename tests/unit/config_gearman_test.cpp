// Config: `[gearman]`, its lists, and whether a config needs Redis.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/gearman_settings.hpp"
#include "core/reload_plan.hpp"
#include "fake_host.hpp"

using namespace w8y;
using namespace w8y::test;
using Lines = std::vector<std::string>;

namespace config_gearman_test {
namespace {

Config config_of(const std::string& text) {
  FakeHost host;
  Config config = parse_config(text, "c", host);
  set_hashes(config);
  return config;
}

const std::string servers =
    "[gearman]\nservers = [\"a\", \"b:4731\", \"[::1]\", \"[fe80::2]:1\"]\n";
const std::string one_list = "[lists.\"img::resize\"]\nsource = \"gearman\"\nexecutor = \"/x\"\n";

std::string only_error(const std::string& text) {
  const Lines lines = errors_in(text);
  REQUIRE(lines.size() == 1);
  return lines.front();
}

}  // namespace

TEST_CASE("gearman: servers and the function of a list are parsed") {
  const Config config = config_of(servers + one_list +
                                  "[lists.other]\nsource = \"gearman\"\nfunction = \"a b\"\n"
                                  "command = [\"cat\"]\n");
  REQUIRE(config.gearman.servers.size() == 4);
  CHECK(config.gearman.servers[0].to_string() == "a:4730");
  CHECK(config.gearman.servers[1].to_string() == "b:4731");
  CHECK(config.gearman.servers[2].to_string() == "[::1]:4730");
  CHECK(config.gearman.servers[3] == GearmanServer{"fe80::2", 1});
  CHECK(config.lists.at("img::resize")->gearman().function == "img::resize");
  CHECK(config.lists.at("other")->gearman().function == "a b");
  // A job's payload is on standard input, so the command needs no {}.
  CHECK(config.warnings.empty());
  CHECK(describe(*config.lists.at("other")).at("function") == "a b");
  CHECK(describe(config).gearman.at("servers") ==
        R"(["a:4730", "b:4731", "[::1]:4730", "[fe80::2]:1"])");
}

TEST_CASE("gearman: keys without a meaning for Gearman are errors that name the reason") {
  for (const auto& [key, reason] : std::vector<std::pair<std::string, std::string>>{
           {"max_failures = 3", "Gearman has no quarantine"},
           {"backoff = false", "Gearman has no delays"},
           {"breaker = \"80% of 20\"", "Gearman has no quarantine that an outage could cause"},
           {"cooldown = 1", "Gearman has no delays"},
           {"overdue_after = 1", "Gearman sends each job only once"},
           {"key_expiry = 5", "the connection is the lease"},
           {"lock_key = \"proc\"", "the connection is the lease"},
           {"fleet_concurrency = 2", "Gearman cannot limit the runs of all hosts together"},
           {"queues = \"A\"", "source = \"schedule\""},
           {"claim_timeout = 1", "source = \"job\""}}) {
    const std::string line = only_error(servers + one_list + key + "\n");
    CAPTURE(line);
    CHECK(line.starts_with("c:6:1: "));
    CHECK(line.find("this list has source = \"gearman\"") != std::string::npos);
    CHECK(line.find(reason) != std::string::npos);
    // In [defaults] the key applies only to lists of its kind.
    CHECK(errors_in("[defaults]\n" + key + "\n" + servers + one_list) == Lines{});
  }
  CHECK(only_error("[lists.w]\nexecutor = \"/x\"\nfunction = \"f\"\n")
            .find("is for source = \"gearman\"; this list has source = \"circular\"") !=
        std::string::npos);
}

TEST_CASE("gearman: a list needs a server and a valid function name") {
  CHECK(only_error(one_list).find("the config has no servers") != std::string::npos);
  CHECK(only_error(servers + "[lists.\"\"]\nsource = \"gearman\"\ncommand = [\"x\"]\n")
            .find("cannot be the name of a function") != std::string::npos);
  CHECK(errors_in(servers +
                  "[lists.\"\"]\nsource = \"gearman\"\nfunction = \"f\"\ncommand = [\"x\"]\n") ==
        Lines{});
  CHECK(only_error(servers + "[lists." + std::string(513, 'x') +
                   "]\nsource = \"gearman\"\ncommand = [\"x\"]\n")
            .find("1 to 512 bytes") != std::string::npos);
  // Gearman lists need no hash tag: they have no keys in Redis.
  CHECK(errors_in("[redis]\nurl = \"redis+cluster://h\"\n" + servers + one_list) == Lines{});
}

TEST_CASE("gearman: a config needs Redis if it has [redis], another kind of list, or no list") {
  CHECK_FALSE(config_of(servers + one_list).has_redis);
  CHECK(describe(config_of(servers + one_list)).redis.empty());
  CHECK(config_of("[redis]\n" + servers + one_list).has_redis);
  CHECK(config_of(servers + one_list + "[lists.w]\nexecutor = \"/x\"\n").has_redis);
  CHECK(config_of("").has_redis);
}

TEST_CASE("gearman: a changed setting changes the hash and appears in the reload plan") {
  const Config with = config_of(servers + one_list);
  CHECK(config_of(servers + one_list).hash == with.hash);
  CHECK(config_of("[redis]\n" + servers + one_list).hash != with.hash);
  CHECK(config_of("[gearman]\nservers = [\"a\"]\n" + one_list).hash != with.hash);
  CHECK(config_of(servers + one_list + "function = \"f\"\n").hash != with.hash);
  // A default that is written out does not change the hash.
  CHECK(config_of(servers + one_list + "function = \"img::resize\"\n").hash == with.hash);

  const Config fewer = config_of("[gearman]\nservers = [\"a\"]\nconnect_timeout = 1\n" + one_list);
  const Lines expected = {
      "gearman: connect_timeout: 5s -> 1s",
      R"(gearman: servers: ["a:4730", "b:4731", "[::1]:4730", "[fe80::2]:1"] -> ["a:4730"])"};
  CHECK(plan_reload(with, fewer).lines() == expected);
  CHECK(plan_reload(describe(with), describe(fewer)).lines() == expected);
  CHECK(plan_reload(with, config_of("[redis]\n" + servers + one_list)).lines().size() > 5);
}

}  // namespace config_gearman_test
