// `--caps`, and each reason for which a host is ineligible.
#include "executor/probe.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "executor/executor_factory.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace probe_test {
namespace {

struct Probing {
  /// Returns "caps", or the reason of the ineligibility.
  std::string ask(const std::string& path, Duration timeout = 20s) {
    std::optional<ProbeResult> answer;
    prober.probe({path, {}, {}}, timeout,
                 [&](ProbeResult&& result) { answer = std::move(result); });
    CHECK_FALSE(answer);  // never from inside the call
    REQUIRE(turn_until(loop, [&] { return answer.has_value(); }));
    const auto* refusal = std::get_if<Ineligibility>(&*answer);
    return refusal == nullptr ? "caps" : refusal->reason;
  }

  loop::Loop loop;
  executor::ProcessProber prober{loop};
};

const std::string good = R"(echo '{"type":"caps","caps":["single","gpu"]}')";

}  // namespace

TEST_CASE("an executor is probed with its own arguments") {
  const TempDir directory;
  const std::string path =
      directory.script("x", "[ \"$*\" = '-a b c --caps' ] && pwd >&2 && " + good);
  Probing probing;
  std::optional<ProbeResult> answer;
  probing.prober.probe({path, {"-a", "b c"}, {}}, 20s,
                       [&](ProbeResult&& result) { answer = std::move(result); });
  REQUIRE(turn_until(probing.loop, [&] { return answer.has_value(); }));
  REQUIRE(std::holds_alternative<Caps>(*answer));
  CHECK(std::get<Caps>(*answer).has("gpu"));
}

TEST_CASE("a probed executor has only the variables PATH, LANG and TZ") {
  const TempDir directory;
  setenv("W8Y_TEST_SECRET", "x", 1);
  const std::string path = directory.script(
      "x",
      "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^PATH= -e ^LANG= -e ^TZ= && exit 1; " + good);
  CHECK(Probing().ask(path) == "caps");
  unsetenv("W8Y_TEST_SECRET");
}

TEST_CASE("an executor is probed as the user of the list, with the home of that user") {
  const TempDir directory;
  const std::string path =
      directory.script("x", "[ \"$(id -un) $HOME\" = 'nobody /nonexistent' ] || exit 1; " + good);
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  Probing probing;
  std::optional<ProbeResult> answer;
  probing.prober.probe({path, {}, {"nobody", std::nullopt}}, 20s,
                       [&](ProbeResult&& result) { answer = std::move(result); });
  REQUIRE(turn_until(probing.loop, [&] { return answer.has_value(); }));
  if (geteuid() == 0) {
    CHECK(std::holds_alternative<Caps>(*answer));
  } else {
    REQUIRE(std::holds_alternative<Ineligibility>(*answer));  // only root may change its user
  }
  answer.reset();
  probing.prober.probe({path, {}, {"no such user", std::nullopt}}, 20s,
                       [&](ProbeResult&& result) { answer = std::move(result); });
  REQUIRE(turn_until(probing.loop, [&] { return answer.has_value(); }));
  REQUIRE(std::holds_alternative<Ineligibility>(*answer));
  CHECK(std::get<Ineligibility>(*answer).reason.find("no such user") != std::string::npos);
}

TEST_CASE("each kind of ineligibility has its reason") {
  const TempDir directory;
  Probing probing;
  CHECK(probing.ask("/nonexistent/x") == "not found");
  CHECK(probing.ask(directory.file("plain", "#!/bin/sh\n")) == "not executable");
  CHECK(probing.ask(directory.path()) == "not executable");
  const std::string orphan = directory.file("orphan", "#!/no/such\n", 0755);
  CHECK(probing.ask(orphan) ==
        "cannot run " + orphan + ": the interpreter that it names is not there");
  CHECK(probing.ask(directory.script("three", good + "; exit 3")) == "exit 3");
  CHECK(probing.ask(directory.script("dies", good + "; kill -SEGV $$")) == "signal 11 (SIGSEGV)");
  CHECK(probing.ask(directory.script("silent", "")) == "the executor printed nothing for --caps");
  CHECK(probing.ask(directory.script("usage", "echo 'usage: x'")) ==
        R"(its reply to --caps is not JSON: "usage: x" (bad JSON at byte 1))");
  CHECK(probing.ask(directory.script("bad", "echo '{\"type\": \"c'"))
            .ends_with("(bad JSON at byte 12)"));
  CHECK(probing.ask(directory.script("other", "echo '{}'")) ==
        R"(its reply to --caps has no "type": "caps")");
  CHECK(probing.ask(directory.script("flood", "yes")) ==
        "its reply to --caps is longer than 64 KiB");
}

TEST_CASE("the reason shows standard error of the program") {
  const TempDir directory;
  Probing probing;
  CHECK(probing.ask(directory.script("driver", "echo 'no \"GPU\"' >&2; echo driver >&2; exit 3")) ==
        R"(exit 3; its standard error: "no \"GPU\"\ndriver")");
  CHECK(probing.ask(directory.script("silent", "echo; echo 'what?' >&2; echo >&2")) ==
        R"(the executor printed nothing for --caps; its standard error: "what?")");
  CHECK(probing.ask(directory.script("blank", "echo >&2; exit 1")) == "exit 1");
  CHECK(probing.ask(directory.script("trace", "seq 1000 >&2; echo it broke >&2; exit 1"))
            .ends_with("\\n1000\\nit broke\""));
  const std::string flood =
      probing.ask(directory.script("flood", "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"));
  CHECK(flood.starts_with("exit 1; its standard error ends: \"xxx"));
  CHECK(flood.size() < 400);
  const std::string hangs = directory.script("hangs", "echo waiting for a lock >&2; sleep 1000");
  CHECK(probing.ask(hangs, 500ms) == R"(timed out; its standard error: "waiting for a lock")");
}

TEST_CASE("a probe that hangs times out, even if it ignores signals") {
  const TempDir directory;
  Probing probing;
  const std::string hangs = directory.script("hangs", "trap '' TERM; " + good + "; sleep 1000");
  CHECK(probing.ask(hangs, 100ms) == "timed out");
}

TEST_CASE(
    "one program is probed once for all simultaneous requests, and different programs in "
    "parallel") {
  const TempDir directory;
  const std::string one =
      directory.script("one", "echo asked >>" + directory.path() + "/log; " + good);
  const std::string waits = directory.script(
      "waits", "while ! [ -e " + directory.path() + "/go ]; do sleep 0.01; done; " + good);
  Probing probing;
  int answers = 0;
  int waited = 0;
  probing.prober.probe({waits, {}, {}}, 20s, [&](ProbeResult&&) { ++waited; });
  for (int i = 0; i < 100; ++i)
    probing.prober.probe({one, {}, {}}, 20s, [&](ProbeResult&&) { ++answers; });
  REQUIRE(turn_until(probing.loop, [&] { return answers == 100; }));
  CHECK(directory.read("log") == "asked\n");
  CHECK(waited == 0);
  directory.file("go", "");
  CHECK(turn_until(probing.loop, [&] { return waited == 1; }));
  // After its end, the next request probes again, since the program may have changed.
  CHECK(probing.ask(one) == "caps");
  CHECK(directory.read("log") == "asked\nasked\n");
}

TEST_CASE("a probe callback may start another probe, and a prober may be destroyed during one") {
  const TempDir directory;
  const std::string path = directory.script("x", good);
  const std::string hangs = directory.script("hangs", "sleep 1000");
  bool again = false;
  {
    Probing probing;
    probing.prober.probe({path, {}, {}}, 20s, [&](ProbeResult&&) {
      probing.prober.probe({path, {}, {}}, 20s, [&](ProbeResult&&) { again = true; });
    });
    CHECK(turn_until(probing.loop, [&] { return again; }));
    probing.prober.probe({hangs, {}, {}}, 20s, [&](ProbeResult&&) { again = false; });
  }
  CHECK(again);
}

TEST_CASE("many different programs are probed, a limited number at a time") {
  const TempDir directory;
  Probing probing;
  int answers = 0;
  const std::string path = directory.script("x", good);
  for (int i = 0; i < 150; ++i)
    probing.prober.probe({path, {std::to_string(i)}, {}}, 20s, [&](ProbeResult&& result) {
      CHECK(std::holds_alternative<Caps>(result));
      ++answers;
    });
  CHECK(turn_until(probing.loop, [&] { return answers == 150; }));
}

TEST_CASE("the program of a plain command is only searched for") {
  Probing probing;
  const auto ask = [&](const std::string& program) {
    ListConfig rule;
    rule.command = {program, "{}"};
    std::optional<ProbeResult> answer;
    probing.prober.look_for(rule, 20s, [&](ProbeResult&& result) { answer = std::move(result); });
    CHECK_FALSE(answer);
    REQUIRE(turn_until(probing.loop, [&] { return answer.has_value(); }));
    const auto* refusal = std::get_if<Ineligibility>(&*answer);
    CHECK((refusal == nullptr || !refusal->of_host));
    return refusal == nullptr ? "here" : refusal->reason;
  };
  CHECK(ask("true") == "here");
  CHECK(ask("/bin/true") == "here");
  CHECK(ask("w8y-no-such-program") == "not found");
  CHECK(ask("/etc/passwd") == "not executable");
  CHECK(ask("bin/true") == "neither a name nor an absolute path");
}

TEST_CASE("other prerequisites are checked before the program is probed") {
  const TempDir directory;
  Probing probing;
  ListConfig rule;
  rule.executor = directory.script("x", "echo asked >>" + directory.path() + "/log; " + good);
  rule.child.edit().cwd = directory.path() + "/mnt";
  std::optional<ProbeResult> answer;
  const auto ask = [&] {
    answer.reset();
    probing.prober.look_for(rule, 20s, [&](ProbeResult&& result) { answer = std::move(result); });
    return turn_until(probing.loop, [&] { return answer.has_value(); });
  };
  REQUIRE(ask());
  REQUIRE(std::holds_alternative<Ineligibility>(*answer));
  CHECK(std::get<Ineligibility>(*answer).of_host);
  CHECK(std::get<Ineligibility>(*answer).reason ==
        "cannot change to directory " + directory.path() + "/mnt: No such file or directory");
  CHECK(directory.read("log").empty());
  rule.child.edit().cwd = directory.path();
  REQUIRE(ask());
  REQUIRE(std::holds_alternative<Caps>(*answer));
  CHECK(std::get<Caps>(*answer).has("gpu"));
}

TEST_CASE("a list is served if the capabilities of its program suffice") {
  ListConfig rule;
  rule.executor = "/x";
  Caps caps{{"single", "gpu"}, 1, ""};
  CHECK(executor::why_not(rule, caps).empty());
  rule.requires_caps = {"gpu", "disk"};
  CHECK(executor::why_not(rule, caps) == "lacks the capability \"disk\"");
  rule.requires_caps = {};
  caps.caps = {"gpu"};
  CHECK(executor::why_not(rule, caps) == "lacks the capability \"single\" or \"stream\"");
  rule.mode = Mode::single;
  CHECK(executor::why_not(rule, caps) == "lacks the capability \"single\"");
  caps.caps = {"stream"};
  CHECK(executor::why_not(rule, caps) == "lacks the capability \"single\"");
  rule.mode = Mode::stream;
  CHECK(executor::why_not(rule, caps).empty());
  caps.caps = {"single"};
  CHECK(executor::why_not(rule, caps) == "lacks the capability \"stream\"");
  rule.mode = Mode::automatic;
  rule.command = {"true"};
  CHECK(executor::why_not(rule, {}).empty());
}

}  // namespace probe_test
