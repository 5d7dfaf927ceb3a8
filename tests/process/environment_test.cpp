// Environment of a run: variables, directory, user.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "executor_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace environment_test {
namespace {

/// Returns the variables of a command with this list config.
std::set<std::string> variables(ListConfig rule, const Item& item = "a:0") {
  if (rule.prefix.empty()) rule.prefix = "work";
  rule.command = {"/usr/bin/env"};
  Bench bench;
  const auto told = bench.run_item(item, rule);
  REQUIRE(told.reason() == "exit 0");
  return {told.log.begin(), told.log.end()};
}

std::string reason(ListConfig rule) {
  rule.command = {"/bin/true"};
  Bench bench;
  return bench.run_item("x", rule).reason();
}

/// Variable of the test process, set while the object exists.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

const std::set<std::string> of_every_run = {"W8Y_LIST=work", "W8Y_ITEM=a:0",  "W8Y_RUN_ID=RUN1",
                                            "W8Y_FENCE=77",  "W8Y_ATTEMPT=2", "W8Y_HOST=host-1"};

std::set<std::string> with(std::set<std::string> more) {
  more.insert(of_every_run.begin(), of_every_run.end());
  more.insert(std::string("PATH=") + std::getenv("PATH"));
  more.insert({"LANG=C.UTF-8", "TZ=UTC"});
  return more;
}

}  // namespace

TEST_CASE("the environment has only variables from the config and the run") {
  const Variable lang("LANG", "C.UTF-8");
  const Variable zone("TZ", "UTC");
  const Variable url("W8Y_REDIS_URL", "redis://:secret@host");
  const Variable notify("NOTIFY_SOCKET", "/run/x");
  const Variable other("W8Y_TEST_OTHER", "x");
  const Variable extra("EXTRA", "e=1");

  CHECK(variables({}) == with({}));
  ListConfig rule;
  rule.child.edit().env_pass = {"EXTRA", "NOT_THERE"};
  CHECK(variables(rule) == with({"EXTRA=e=1"}));
  rule.child.edit().env = {{"EXTRA", "mine"}, {"W8Y_FENCE", "1"}, {"EMPTY", ""}};
  CHECK(variables(rule) == with({"EXTRA=mine", "EMPTY="}));
  rule = {};
  rule.child.edit().env_var = "ITEM";
  CHECK(variables(rule) == with({"ITEM=a:0"}));

  rule = {};
  rule.child.edit().env_pass = {"*"};
  const auto all = variables(rule);
  CHECK(all.count("EXTRA=e=1") == 1);
  CHECK(all.count("NOTIFY_SOCKET=/run/x") == 0);
  CHECK(all.count("W8Y_REDIS_URL=redis://:secret@host") == 0);
}

TEST_CASE("an item that is no valid variable is omitted") {
  ListConfig rule;
  rule.child.edit().env_var = "ITEM";
  for (const Item& item : {Item("a\0b", 3), Item(200'000, 'x')})
    for (const std::string& variable : variables(rule, item)) {
      CHECK_FALSE(variable.starts_with("W8Y_ITEM="));
      CHECK_FALSE(variable.starts_with("ITEM="));
    }
}

TEST_CASE("env_file is read for each run, after env_pass and before env") {
  const TempDir directory;
  const Variable extra("EXTRA", "passed");
  ListConfig rule;
  rule.child.edit().env_pass = {"EXTRA"};
  rule.child.edit().env_file = directory.file(
      "env", "# comment\n\nEXTRA=file\r\nQUOTED=\"as it = stands\"\nMINE=file\nLAST=1");
  rule.child.edit().env = {{"MINE", "config"}};
  auto seen = variables(rule);
  for (const char* variable : {"EXTRA=file", "QUOTED=\"as it = stands\"", "MINE=config", "LAST=1"})
    CHECK(seen.count(variable) == 1);
  directory.file("env", "EXTRA=changed\n");
  seen = variables(rule);
  CHECK(seen.count("EXTRA=changed") == 1);
  CHECK(seen.count("LAST=1") == 0);
}

TEST_CASE("a run with an invalid env_file does not start, and the error is its reason") {
  const TempDir directory;
  ListConfig rule;
  rule.child.edit().env_file = "/nonexistent";
  CHECK(reason(rule) == "env_file /nonexistent not found");
  rule.child.edit().env_file = directory.path();
  CHECK(reason(rule) == "env_file " + directory.path() + " is a directory; must be a file");
  rule.child.edit().env_file = directory.file("env", "A=1\nnonsense\n");
  CHECK(reason(rule) == "env_file " + rule.child->env_file + ", line 2: not NAME=value");
  rule.child.edit().env_file = directory.file("env", "A=1\n", 0666);
  if (is_root())
    CHECK(reason(rule).starts_with("env_file " + rule.child->env_file +
                                   " can be written by its group or others"));
}

TEST_CASE("a run has the user, group and limits of its list") {
  ListConfig rule = command_rule({"/bin/sh", "-c", "id -un; id -gn; umask; ulimit -n; pwd"});
  rule.child.edit().umask = 0077;
  rule.child.edit().rlimits = {{"nofile", 7, 50}};
  Bench bench;
  const auto told = bench.run_item("x", rule);
  REQUIRE(told.log.size() == 5);
  CHECK(std::vector(told.log.begin() + 2, told.log.end()) ==
        std::vector<std::string>{"0077", "50", "/"});
  if (!is_root()) return;
  rule.child.edit().run_as = {"nobody", "daemon"};
  const auto nobody = bench.run_item("x", rule);
  CHECK(nobody.log == std::vector<std::string>{"nobody", "daemon", "0077", "50", "/"});
  rule.command = {"/usr/bin/env"};
  const auto env = bench.run_item("x", rule).all_log();
  CHECK(env.find("USER=nobody\n") != std::string::npos);
  CHECK(env.find("LOGNAME=nobody\n") != std::string::npos);
  CHECK(env.find("HOME=/nonexistent\n") != std::string::npos);
  CHECK(env.find("SHELL=/usr/sbin/nologin\n") != std::string::npos);
  rule.child.edit().run_as = {"no-such-user", {}};
  CHECK(bench.run_item("x", rule).reason() == "no such user 'no-such-user'");
}

TEST_CASE("a temporary directory belongs to one run, and is removed without following links") {
  const TempDir directory;
  directory.file("precious", "keep me");
  const Variable place("TMPDIR", directory.path().c_str());
  ListConfig rule =
      command_rule({"/bin/sh", "-c",
                    "pwd; stat -c '%U %a' .; mkdir -p a/b/c; echo x >a/b/c/file; "
                    "ln -s ../precious link; ln -s .. up; ln -s / a/root; kill -9 $$"});
  rule.child.edit().cwd = "temp";
  if (is_root()) rule.child.edit().run_as = {"nobody", {}};
  Bench bench;
  const auto told = bench.run_item("x", rule);
  CHECK(told.reason() == "signal 9 (SIGKILL)");
  REQUIRE(told.log.size() == 2);
  CHECK(told.log[0].starts_with(directory.path() + "/w8y-"));
  if (is_root()) CHECK(told.log[1] == "nobody 700");
  CHECK(bench.wait([&] { return !std::filesystem::exists(told.log[0]); }));
  CHECK(directory.read("precious") == "keep me");

  const auto again = bench.run_item("x", rule);
  CHECK(again.log[0] != told.log[0]);
  rule.command = {"/nonexistent"};
  bench.run_item("x", rule);
  CHECK(bench.wait([&] {
    return std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1;
  }));
}

TEST_CASE("a run whose temporary directory cannot be created does not start") {
  const Variable place("TMPDIR", "/nonexistent");
  ListConfig rule;
  rule.child.edit().cwd = "temp";
  CHECK(reason(rule) == "cannot create a directory in /nonexistent: No such file or directory");
}

TEST_CASE("a list name that is no valid variable is omitted, and the command runs") {
  ListConfig rule;
  rule.prefix = std::string("a\0b", 3);
  const auto seen = variables(rule);
  CHECK(seen.contains("W8Y_ITEM=a:0"));
  for (const auto& variable : seen) CHECK_FALSE(variable.starts_with("W8Y_LIST="));
}

}  // namespace environment_test
