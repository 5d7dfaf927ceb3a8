// Config keys: their values in the list config, and the kinds of lists that may have them.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "core/circular_settings.hpp"
#include "core/config.hpp"
#include "core/job_settings.hpp"
#include "core/schedule_settings.hpp"
#include "fake_host.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace config_values_test {

TEST_CASE("values of keys are stored in the list config") {
  FakeHost host;
  const Config config = parse_config(
      "[redis]\nurl = \"unix:///r\"\nidle_commands = 7\n"
      "[supervisor]\nhost = \"h\"\nlog_format = \"json\"\nprobe_interval = 0\n"
      "[lists.w]\nexecutor = \"/x\"\nrequires = [\"gpu\"]\nlock_key = \"proc\"\n"
      "on_lease_loss = \"terminate\"\nsuccess_exit_codes = [3, 0, 3]\nuser = 1000\n"
      "group = \"nogroup\"\numask = \"027\"\nnice = -5\nmax_line = \"2KiB\"\nhistory = 9\n"
      "rlimits = { nofile = 10, core = \"unlimited\", cpu = \"1h\", as = \"1GiB\", rttime = "
      "\"1ms\" }\n"
      "memory_max = \"1GiB\"\ncpu_weight = 7\n"
      "env = { B = \"2\", A = \"1\" }\nenv_pass = [\"*\"]\nenv_var = \"IT\"\ncwd = \"temp\"\n"
      "processes = 2\nmax_items = 3\nmax_age = \"4m\"\n",
      "c", host);
  CHECK(config.redis.url == "unix:///r");
  CHECK(config.redis.idle_commands == 7);
  CHECK(config.supervisor.host == "h");
  CHECK(config.supervisor.log_format == LogFormat::json);
  CHECK(config.supervisor.probe_interval == 0s);
  ListConfig expected;
  expected.prefix = "w";
  expected.executor = "/x";
  expected.requires_caps = {"gpu"};
  expected.circular().lock_key = "proc";
  expected.on_lease_loss = OnLeaseLoss::terminate;
  expected.child.edit().success_exit_codes = {0, 3};
  expected.child.edit().run_as = {"1000", "nogroup"};
  expected.child.edit().umask = 027;
  expected.child.edit().nice = -5;
  expected.max_line = 2048;
  expected.history.runs = 9;
  expected.child.edit().rlimits = {{"as", RLIMIT_AS, 1 << 30},
                                   {"core", RLIMIT_CORE, std::nullopt},
                                   {"cpu", RLIMIT_CPU, 3600},
                                   {"nofile", RLIMIT_NOFILE, 10},
                                   {"rttime", RLIMIT_RTTIME, 1000}};
  expected.child.edit().memory_max = 1 << 30;
  expected.child.edit().cpu_weight = 7;
  expected.child.edit().env = {{"A", "1"}, {"B", "2"}};
  expected.child.edit().env_pass = {"*"};
  expected.child.edit().env_var = "IT";
  expected.child.edit().cwd = "temp";
  expected.processes = 2;
  expected.max_items = 3;
  expected.max_age = 4min;
  CHECK(*config.lists.at("w") == expected);
}

TEST_CASE("a key for another source is an error in a list, but is allowed in [defaults]") {
  const std::string schedule = "source = \"schedule\"\nqueues = \"A:A:B\"\n";
  const Lines lines = errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\nqueues = \"A\"\n");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "c:3:1: lists.w.queues: is for source = \"schedule\"; this list has source = \"circular\"");
  CHECK(errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\ncooldown = 1\nlock_key = \"lock\"\n" +
                  schedule)
            .size() == 2);
  CHECK(errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\nsource = \"schedule\"\n").size() == 1);
  // backoff and max_failures of a schedule need on_failure = "backoff".
  const std::string rests = "backoff = false\nmax_failures = 3\n";
  CHECK(errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\n" + schedule + rests).size() == 2);
  CHECK(errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\non_failure = \"backoff\"\n" + schedule +
                  rests) == Lines{});

  FakeHost host;
  const Config config = parse_config(
      "[defaults]\nsource = \"schedule\"\nqueues = \"A:A:B\"\ncooldown = \"7s\"\n"
      "on_failure = \"reschedule\"\nkey_expiry = \"9s\"\n"
      "[lists.jobs]\ncommand = [\"x\", \"{}\"]\ndispatch = false\n"
      "[lists.ring]\ncommand = [\"x\", \"{}\"]\nsource = \"circular\"\n",
      "c", host);
  const ListConfig& jobs = *config.lists.at("jobs");
  REQUIRE(jobs.kind() == SourceKind::schedule);
  CHECK(jobs.schedule().queues == Lines{"A", "A", "B"});
  CHECK(jobs.schedule().on_failure == OnFailure::reschedule);
  CHECK_FALSE(jobs.schedule().dispatch);
  CHECK(jobs.key_expiry == 9s);
  const ListConfig& ring = *config.lists.at("ring");
  REQUIRE(ring.kind() == SourceKind::circular);
  CHECK(ring.circular().cooldown == 7s);
  CHECK(ring.key_expiry == 9s);
  CHECK(describe(jobs).contains("queues"));
  CHECK_FALSE(describe(jobs).contains("cooldown"));
  CHECK_FALSE(describe(ring).contains("queues"));
}

TEST_CASE("overdue_after is for circular lists, and must be longer than their cooldown") {
  FakeHost host;
  const std::string list = "[lists.w]\ncommand = [\"x\", \"{}\"]\noverdue_after = \"10m\"\n";
  const Config config = parse_config(list, "c", host);
  CHECK(config.lists.at("w")->circular().overdue_after == 10min);
  CHECK(config.warnings.empty());
  CHECK(errors_in(list + "source = \"job\"\n") ==
        Lines{"c:3:1: lists.w.overdue_after: is for source = \"circular\"; this list has source = "
              "\"job\""});
  CHECK(
      parse_config(list + "cooldown = \"10m\"\n", "c", host).warnings ==
      Lines{
          "c:1:8: lists.w: has an overdue_after of 10m, but a cooldown of 10m; overdue_after must "
          "be longer, or the list is always overdue"});
}

TEST_CASE("lists of a feed have their own keys and a backoff, and need no {} in the command") {
  FakeHost host;
  const Config config = parse_config(
      "[defaults]\nclaim_timeout = \"1h\"\nlock_key = \"proc\"\n"
      "[lists.thumbs]\nsource = \"job\"\ncommand = [\"x\"]\nbackoff = false\nmax_failures = 3\n"
      "maintenance_interval = \"2s\"\n[lists.ring]\ncommand = [\"x\", \"{}\"]\n",
      "c", host);
  CHECK(config.warnings.empty());
  const ListConfig& thumbs = *config.lists.at("thumbs");
  REQUIRE(thumbs.kind() == SourceKind::job);
  CHECK(thumbs.job() == JobSettings{1h, 2s});
  CHECK(thumbs.max_failures == 3);
  CHECK_FALSE(describe(*config.lists.at("ring")).contains("claim_timeout"));
  CHECK(errors_in("[lists.w]\nexecutor = \"/x\"\nsource = \"job\"\nqueues = \"A\"\n"
                  "cooldown = 1\nlock_key = \"lock\"\n") ==
        Lines{"c:4:1: lists.w.queues: is for source = \"schedule\"; this list has source = \"job\"",
              "c:5:1: lists.w.cooldown: is for source = \"circular\"; this list has source = "
              "\"job\"",
              "c:6:1: lists.w.lock_key: is for source = \"circular\"; this list has source = "
              "\"job\""});
}

TEST_CASE("keys of stream processes are errors in other lists, but are allowed in [defaults]") {
  const std::string keys = "processes = 2\nmax_items = 3\nmax_age = \"4m\"\n";
  CHECK(errors_in("[lists.w]\ncommand = [\"x\"]\n" + keys).size() == 3);
  const Lines lines = errors_in("[lists.w]\nexecutor = \"/x\"\nmode = \"single\"\n" + keys);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        "c:4:1: lists.w.processes: is for mode = \"stream\" (or \"auto\"); this list is "
        "\"single\"");
  CHECK(errors_in("[defaults]\nmode = \"single\"\n[lists.w]\nexecutor = \"/x\"\n" + keys).size() ==
        3);

  CHECK(errors_in("[lists.w]\nexecutor = \"/x\"\nmode = \"stream\"\nenv_var = \"X\"\n"
                  "success_exit_codes = [0, 3]\n")
            .size() == 2);

  FakeHost host;
  const Config config = parse_config("[defaults]\n" + keys +
                                         "[lists.a]\nexecutor = \"/x\"\n"
                                         "[lists.b]\nexecutor = \"/x\"\nmode = \"single\"\n"
                                         "[lists.c]\ncommand = [\"x\"]\n"
                                         "[lists.d]\nexecutor = \"/x\"\nmode = \"stream\"\n",
                                     "c", host);
  for (const char* name : {"a", "d"}) {
    CHECK(config.lists.at(name)->processes == 2);
    CHECK(config.lists.at(name)->max_items == 3);
    CHECK(config.lists.at(name)->max_age == 4min);
  }
  for (const char* name : {"b", "c"}) {
    CHECK(config.lists.at(name)->processes == 1);
    CHECK(config.lists.at(name)->max_items == 0);
    CHECK(config.lists.at(name)->max_age == 0s);
  }
}

TEST_CASE("the description of a config shows no secrets") {
  FakeHost host;
  host.bad_url = "redis://u:hunter2@h:x";
  CHECK(errors_in("[redis]\nurl = \"redis://u:hunter2@h:x\"\n", host) ==
        Lines{"c:2:7: redis.url: has a bad port"});
  for (const char* text :
       {"[redis]\nurl = \"htp://u:hunter2@h\"\n", "[redis]\nurl = \"redis+ring://u:hunter2@h\"\n",
        "[lists.w]\nexecutor = \"/x\"\nenv = { A = \"hunter2\\u0000\" }\n",
        "[lists.w]\nexecutor = \"/x\"\nenv = { W8Y_A = \"hunter2\" }\n"}) {
    const Lines lines = errors_in(text);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("hunter2") == std::string::npos);
  }
}

}  // namespace config_values_test
