#include "ops/embedded_redis.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ops/private_directory.hpp"
#include "ops_support.hpp"
#include "process/find_program.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;

namespace embedded_redis_test {
namespace {

struct Watcher : EmbeddedRedisHandler {
  int up = 0;
  std::vector<std::string> down;
  std::vector<Duration> pauses;
  int lines = 0;
  bool stopped = false;

  void on_redis_up() override { ++up; }
  void on_redis_down(const std::string& why, Duration pause) override {
    down.push_back(why);
    pauses.push_back(pause);
  }
  void on_redis_log(const std::string&) override { ++lines; }
  void on_redis_stopped() override { stopped = true; }
};

bool have_redis() {
  return !process::find_program("redis-server").path.empty();
}

std::string ask(const EmbeddedRedis& redis, const std::string& command) {
  const RawClient client(redis.url().substr(7));
  client.send(command + "\r\n");
  return client.receive_until("\r\n");
}

std::string problem_of(const std::string& directory) {
  try {
    const PrivateDirectory locked(directory);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("an embedded Redis starts, is private, restarts after a crash, and keeps its data") {
  if (!have_redis()) return;
  const TempDir directory;
  loop::Loop loop;
  Watcher watcher;
  {
    EmbeddedRedis redis(loop, {.directory = directory / "a/data", .min_pause = 20ms}, watcher);
    CHECK(redis.url() == "unix://" + (directory / "a/data/redis.sock"));
    REQUIRE(turn_until(loop, [&] { return watcher.up == 1; }));
    CHECK(ask(redis, "SET key value") == "+OK\r\n");
    CHECK(ask(redis, "CONFIG GET port") == "*2\r\n");
    CHECK(std::filesystem::exists(directory / "a/data/redis.pid"));
    CHECK(watcher.lines > 0);
    struct stat status {};
    for (const char* name : {"a/data", "a/data/redis.sock", "a/data/appendonlydir"}) {
      REQUIRE(stat((directory / name).c_str(), &status) == 0);
      CHECK((status.st_mode & 077) == 0);
    }

    const int first = redis.pid();
    REQUIRE(first > 0);
    kill(first, SIGKILL);
    REQUIRE(turn_until(loop, [&] { return watcher.up == 2; }));
    CHECK(redis.pid() != first);
    REQUIRE(watcher.down.size() == 1);
    CHECK(watcher.down[0].find("signal 9") != std::string::npos);

    redis.stop();
    CHECK_FALSE(watcher.stopped);
    REQUIRE(turn_until(loop, [&] { return watcher.stopped; }));
    CHECK(redis.pid() == 0);
    CHECK(watcher.down.size() == 1);
  }
  EmbeddedRedis again(loop, {.directory = directory / "a/data"}, watcher);
  REQUIRE(turn_until(loop, [&] { return watcher.up == 3; }));
  std::string kept;
  const auto loaded = [&] {
    kept = ask(again, "GET key");
    return kept.find("LOADING") == std::string::npos;
  };
  CHECK(turn_until(loop, loaded));
  CHECK(kept == "$5\r\n");
  again.stop();
  watcher.stopped = false;
  REQUIRE(turn_until(loop, [&] { return watcher.stopped; }));
}

TEST_CASE("a directory has at most one embedded Redis") {
  if (!have_redis()) return;
  const TempDir directory;
  loop::Loop loop;
  Watcher watcher;
  const EmbeddedRedis first(loop, {.directory = directory / "data"}, watcher);
  CHECK_THROWS_WITH(EmbeddedRedis(loop, {.directory = directory / "data"}, watcher),
                    doctest::Contains("another w8yd uses it"));
}

TEST_CASE("an embedded Redis that exits at once is restarted at growing intervals") {
  const TempDir directory;
  const std::string program = directory / "redis-server";
  std::ofstream(program) << "#!/bin/sh\necho out of luck >&2\nexit 3\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  loop::Loop loop;
  Watcher watcher;
  EmbeddedRedis redis(
      loop,
      {.directory = directory / "data", .program = program, .min_pause = 1ms, .max_pause = 4ms},
      watcher);
  REQUIRE(turn_until(loop, [&] { return watcher.down.size() == 4; }));
  CHECK(watcher.pauses == std::vector<Duration>{1ms, 2ms, 4ms, 4ms});
  CHECK(watcher.down[0] == "redis-server ended, exit status 3: out of luck");
  redis.stop();
  REQUIRE(turn_until(loop, [&] { return watcher.stopped; }));
}

TEST_CASE("a missing redis-server is an error with a clear text") {
  const TempDir directory;
  loop::Loop loop;
  Watcher watcher;
  CHECK_THROWS_WITH(
      EmbeddedRedis(loop, {.directory = directory / "data", .program = "no-such-redis"}, watcher),
      "cannot run no-such-redis: not found");
}

TEST_CASE("a directory of the embedded Redis that is not private is refused") {
  const TempDir directory;
  CHECK(problem_of(directory / "x/y/z").empty());
  std::filesystem::create_directory(directory / "open");
  std::filesystem::permissions(directory / "open", std::filesystem::perms::all);
  CHECK(problem_of(directory / "open").find("other users can write to it") != std::string::npos);
  std::ofstream(directory / "file") << "x";
  CHECK(problem_of(directory / "file").find("not a directory") != std::string::npos);
  if (geteuid() != 0) CHECK(problem_of("/").find("another user") != std::string::npos);
}

TEST_CASE("a directory below one of another user, or behind a link of another user, is refused") {
  if (geteuid() != 0) {
    MESSAGE("needs root: skipped");
    return;
  }
  const TempDir directory;
  constexpr uid_t nobody = 65534;
  for (const char* name : {"his", "ours"}) std::filesystem::create_directory(directory / name);
  // Root creates the directories with mode 700. The parent directory "his" gets another owner
  // later.
  std::filesystem::create_directory(directory / "his/data");
  std::filesystem::create_directory(directory / "ours/data");
  std::filesystem::permissions(directory / "his/data", std::filesystem::perms::owner_all);
  std::filesystem::permissions(directory / "ours/data", std::filesystem::perms::owner_all);
  CHECK(problem_of(directory / "his/data").empty());
  REQUIRE(chown((directory / "his").c_str(), nobody, nobody) == 0);
  std::filesystem::create_symlink(directory / "ours", directory / "link");
  REQUIRE(lchown((directory / "link").c_str(), nobody, nobody) == 0);
  for (const std::string& path :
       {directory / "his/data", directory / "his/new", directory / "link/data"}) {
    CAPTURE(path);
    CHECK(problem_of(path).find("cannot use the directory") != std::string::npos);
    loop::Loop loop;
    Watcher watcher;
    CHECK_THROWS_WITH(EmbeddedRedis(loop, {.directory = path}, watcher),
                      doctest::Contains("cannot use the directory"));
  }
  CHECK(problem_of(directory / "ours/data").empty());
}

}  // namespace embedded_redis_test
