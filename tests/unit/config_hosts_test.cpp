// Config: `[hosts."PATTERN"]`, and limits relative to the number of processors.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/reload_plan.hpp"
#include "unit/fake_host.hpp"

using namespace w8y;
using w8y::test::errors_in;
using w8y::test::FakeHost;
using Lines = std::vector<std::string>;
using namespace std::chrono_literals;

namespace config_hosts_test {
namespace {

const std::string lists = R"([lists.films]
executor = "/films"
concurrency = 2
env = { A = "1" }
[lists.mix]
command = ["mix", "{}"]
)";

Config on(const std::string& name, const std::string& text, unsigned cpus = 8) {
  FakeHost host;
  host.own_name = name;
  host.cpus = cpus;
  Config config = parse_config(lists + text, "c", host);
  set_hashes(config);
  return config;
}

unsigned films_at_once(const std::string& name, const std::string& text) {
  return on(name, text).lists.at("films")->concurrency;
}

}  // namespace

TEST_CASE("settings of a host pattern apply to hosts whose names match") {
  const std::string text = R"([hosts."gpu-*"]
host_concurrency = 30
[hosts."gpu-*".lists.films]
concurrency = 9
weight = 3
enabled = false
env = { B = "2" }
nice = 5
rlimits = { core = 0 }
timeout = "1h"
progress_timeout = "1m"
processes = 2
)";
  const Config gpu = on("gpu-1", text);
  const ListConfig& films = *gpu.lists.at("films");
  CHECK(gpu.supervisor.host_concurrency == 30);
  CHECK(films.concurrency == 9);
  CHECK(films.weight == 3);
  CHECK_FALSE(films.enabled);
  CHECK(films.child->env == std::map<std::string, std::string>{{"B", "2"}});
  CHECK(films.child->nice == 5);
  CHECK(films.child->rlimits.size() == 1);
  CHECK(films.timeout == 1h);
  CHECK(films.progress_timeout == 1min);
  CHECK(films.processes == 2);
  CHECK(gpu.lists.at("mix")->concurrency == 1);
  const Config other = on("cpu-1", text);
  CHECK(other.supervisor.host_concurrency == 0);
  CHECK(*other.lists.at("films") == *on("any", "").lists.at("films"));
  CHECK(gpu.hash == other.hash);
}

TEST_CASE("the last matching section wins, whichever pattern comes first in the file") {
  const std::string text = R"([hosts."*".lists.films]
concurrency = 5
[hosts."a*".lists.films]
concurrency = 6
[hosts."a*".lists."mix:"]
timeout = "1s"
[hosts."ab*".lists.films]
weight = 7
)";
  CHECK(films_at_once("z", text) == 5);
  CHECK(films_at_once("ab", text) == 6);
  CHECK(on("ab", text).lists.at("films")->weight == 7);
  CHECK(on("ab", text).lists.at("mix")->timeout == 1s);
  const std::string other_way = R"([hosts."a*".lists.films]
concurrency = 6
[hosts."*".lists.films]
concurrency = 5
)";
  CHECK(films_at_once("ab", other_way) == 5);
  CHECK(on("a",
           "[hosts.b]\nhost_concurrency = 1\n[hosts.a]\nhost_concurrency = 2\n[hosts.\"?\"]\n"
           "host_concurrency = 3\n")
            .supervisor.host_concurrency == 3);
}

TEST_CASE("all hosts with one file have the same hash, and every change of the file changes it") {
  const std::string one = "[hosts.a.lists.films]\nconcurrency = 3\nenv = { S = \"x\" }\n";
  CHECK(on("a", one).hash == on("b", one).hash);
  CHECK(on("a", "[hosts.a]\nhost_concurrency = 3\n").hash ==
        on("b", "[hosts.a]\nhost_concurrency = 3\n").hash);
  std::vector<std::string> hashes;
  for (const char* text :
       {"", "[hosts.a.lists.films]\nconcurrency = 3\n", "[hosts.a.lists.films]\nconcurrency = 4\n",
        "[hosts.b.lists.films]\nconcurrency = 3\n", "[hosts.a.lists.mix]\nconcurrency = 3\n",
        "[hosts.a.lists.films]\nweight = 3\n", "[hosts.a]\nhost_concurrency = 3\n",
        "[hosts.a]\nhost_concurrency = 4\n", "[hosts.b]\nhost_concurrency = 3\n",
        "[hosts.a.lists.films]\nconcurrency = \"cpus\"\n",
        "[hosts.a.lists.films]\nenv = { S = \"x\" }\n",
        "[hosts.a.lists.films]\nenv = { S = \"y\" }\n"}) {
    for (const char* name : {"a", "b", "c"}) {
      CAPTURE(name);
      CHECK(on(name, text).hash == on("c", text).hash);
    }
    hashes.push_back(on("c", text).hash);
  }
  std::ranges::sort(hashes);
  CHECK(std::ranges::adjacent_find(hashes) == hashes.end());
}

TEST_CASE(
    "a reload that keeps unchanged lists computes the hash from the file, not from the host") {
  const std::string hosts = "[hosts.a.lists.films]\nconcurrency = 3\n";
  FakeHost host;
  host.own_name = "a";
  const Config before = on("a", hosts);
  std::string changed = lists + hosts;
  changed.replace(changed.find("concurrency = 2"), 15, "concurrency = 7");
  Config after = parse_config(changed, "c", host);
  CHECK(*after.lists.at("films") == *before.lists.at("films"));
  keep_unchanged(before, after);
  set_hashes(after, before);
  Config afresh = parse_config(changed, "c", host);
  set_hashes(afresh);
  CHECK(after.hash == afresh.hash);
  CHECK(after.hash != before.hash);
}

TEST_CASE("errors in [hosts] are reported on every host, with their location") {
  CHECK(
      errors_in(lists + R"([hosts.x]
host = "a"
nothing = 1
host_concurrency = -1
[hosts.x.lists.films]
executor = "/other"
concurency = 3
weight = 0
[hosts.x.lists.mix]
processes = 2
[hosts.x.lists.film]
weight = 1
)") ==
      Lines{
          "c:8:1: hosts.x.host: is in the wrong table; it is a key of [supervisor]",
          "c:9:1: hosts.x.nothing: is not a known key; must be one of host_concurrency, lists",
          "c:10:20: hosts.x.host_concurrency: is -1; must be an integer from 0 to 1000000",
          "c:12:1: hosts.x.lists.films.executor: is the same on all hosts; only concurrency, "
          "weight, enabled, processes, env, nice, rlimits, timeout and progress_timeout may "
          "differ",
          "c:13:1: hosts.x.lists.films.concurency: is not a known key; did you mean "
          "\"concurrency\"?",
          "c:14:10: hosts.x.lists.films.weight: is 0; must be an integer from 1 to 1000000",
          "c:16:1: hosts.x.lists.mix.processes: is for a stream executor; a command is one process "
          "per item",
          "c:17:16: hosts.x.lists.film: is not a list of this config; must be the name of "
          "a list in [lists]"});
  CHECK(errors_in(lists + "[hosts.here.lists.films]\nweight = 0\n").size() == 1);
  CHECK(errors_in("hosts = 1\n") == Lines{"c:1:9: hosts: is 1; must be a table"});
  CHECK(errors_in("[hosts]\nx = 1\n") == Lines{"c:2:5: hosts.x: is 1; must be a table"});
  CHECK(errors_in("[hosts.x]\nlists = 1\n") ==
        Lines{"c:2:9: hosts.x.lists: is 1; must be a table"});
  CHECK(errors_in(lists + "[hosts.x.lists]\nfilms = 1\n") ==
        Lines{"c:8:9: hosts.x.lists.films: is 1; must be a table"});
}

TEST_CASE("[hosts] is allowed only in the main file, and applies to lists of any file") {
  FakeHost host;
  host.own_name = "a";
  host.files["/more"] = {"[lists.more]\ncommand = [\"x\", \"{}\"]\n", ""};
  const std::string text = "include = [\"/more\"]\n[hosts.a.lists.more]\nconcurrency = 4\n";
  CHECK(parse_config(text, "c", host).lists.at("more")->concurrency == 4);
  host.files["/more"].text += "[hosts.a]\nhost_concurrency = 1\n";
  CHECK(errors_in(text, host) ==
        Lines{"/more:3:2: hosts: is in an included file, which may have only [lists]"});
}

TEST_CASE("a limit may be relative to the number of processors") {
  const auto films = [](const std::string& share, unsigned cpus) {
    return *on("a", "[hosts.a.lists.films]\nconcurrency = \"" + share + "\"\n", cpus)
                .lists.at("films");
  };
  CHECK(films("cpus", 8).concurrency == 8);
  CHECK(films("cpus*2", 8).concurrency == 16);
  CHECK(films("cpus/2", 8).concurrency == 4);
  CHECK(films("cpus/16", 8).concurrency == 1);
  CHECK(films("cpus*100000", 8).concurrency == 100'000);
  CHECK(describe(films("cpus*2", 3)).at("concurrency") == "cpus*2 (6 here)");
  const std::string stream =
      "[lists.a]\nexecutor = \"/x\"\nprocesses = \"cpus/2\"\nconcurrency = 50\n";
  const Config on_eight = on("a", stream, 8);
  CHECK(on_eight.lists.at("a")->processes == 4);
  CHECK(describe(*on_eight.lists.at("a")).at("processes") == "cpus/2 (4 here)");
  CHECK(on_eight.hash == on("a", stream, 2).hash);
  const std::string of_host = "[hosts.a.lists.a]\nprocesses = \"cpus\"\n";
  CHECK(on("a", stream + of_host, 3).lists.at("a")->processes == 3);
  CHECK(on("a", stream + of_host, 3).hash == on("b", stream + of_host, 8).hash);
  FakeHost host;
  const std::string text =
      "[defaults]\nconcurrency = \"cpus\"\n[lists.a]\ncommand = [\"x\", "
      "\"{}\"]\n[lists.b]\ncommand = [\"x\", \"{}\"]\nconcurrency = 3\n";
  Config eight = parse_config(text, "c", host);
  CHECK(eight.lists.at("a")->concurrency == 8);
  CHECK(eight.lists.at("b")->concurrency == 3);
  CHECK(eight.lists.at("b")->concurrency_share == 0);
  host.cpus = 2;
  Config two = parse_config(text, "c", host);
  CHECK(two.lists.at("a")->concurrency == 2);
  set_hashes(eight);
  set_hashes(two);
  CHECK(eight.hash == two.hash);
  CHECK(errors_in("[lists.a]\nexecutor = \"/x\"\nprocesses = 0\n") ==
        Lines{"c:3:13: lists.a.processes: is 0; must be an integer from 1 to 100000"});
  CHECK(parse_config("[defaults]\nprocesses = \"cpus\"\n[lists.a]\nexecutor = \"/x\"\n", "c", host)
            .lists.at("a")
            ->processes == 2);
  for (const char* wrong : {"", "cpu", "cpus+1", "cpus*0", "cpus*-1", "cpus*", "cpus * 2", "4"}) {
    CAPTURE(wrong);
    const Lines told = errors_in("[lists.a]\ncommand = [\"x\", \"{}\"]\nconcurrency = \"" +
                                 std::string(wrong) + "\"\n");
    REQUIRE(told.size() == 1);
    CHECK(
        told[0].ends_with("; must be a number without quotes, or a share of this host's "
                          "processors: \"cpus\", \"cpus*2\" or \"cpus/2\""));
  }
}

}  // namespace config_hosts_test
