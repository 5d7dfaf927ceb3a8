// Removal of directories that runs leave, with any content and few resources.
#include "process/tree_removal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "process/temp_directory.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using Left = process::TreeRemoval::Result;

namespace remove_folder_test {
namespace {

constexpr int levels = 60'000;

/// Creates `depth` nested directories. Their path may exceed the maximum length of a path.
void make_nest(const std::string& directory, int depth) {
  Fd at(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < depth; ++i) {
    REQUIRE(mkdirat(at.get(), "d", 0700) == 0);
    at = Fd(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(at);
  }
}

/// Limits this process to at most eight further descriptors while it exists.
struct FewDescriptors {
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit few = before;
    few.rlim_cur = open_descriptors() + 8;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before{};
};

struct Watched {
  explicit Watched(loop::Loop& loop) : directories(loop) {
    directories.on_stays = [this](const std::string& path, const std::string& why) {
      said.push_back(path + ": " + why);
    };
  }
  process::TempDirectories directories;
  std::vector<std::string> said;
};

}  // namespace

TEST_CASE("a deep tree is removed with few descriptors, in steps of limited time") {
  // In memory if possible, since creating this many directories on a disk is slow.
  const std::string place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  const TempDir directory(place);
  const std::string path = directory / "nest";
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  make_nest(path, levels);
  const FewDescriptors few;
  process::TreeRemoval removal(path);
  int pieces = 0;
  Left result = Left::more;
  loop::SystemClock clock;
  Duration longest{0};
  while (result == Left::more) {
    const Instant began = clock.now();
    result = removal.next_step(20ms);
    longest = std::max(longest, clock.now() - began);
    ++pieces;
  }
  CHECK(result == Left::gone);
  CHECK(pieces > 1);
  CHECK(longest < 2s);  // limit for a busy machine
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a wide tree with files of each type is removed") {
  const TempDir directory;
  const std::string path = directory.path() + "/wide";
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  directory.file("precious", "keep me");
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = path + '/' + std::to_string(i);
    REQUIRE((i % 10 == 0 ? mkdir(name.c_str(), 0700) : mknod(name.c_str(), S_IFREG | 0600, 0)) ==
            0);
  }
  std::filesystem::create_directories(path + "/.w8y-1/a/b");
  std::filesystem::create_directories(path + "/x/.w8y-1/y/.w8y-2/z");
  std::filesystem::create_symlink("..", path + "/x/up");
  std::filesystem::create_directory_symlink(directory.path(), path + "/x/.w8y-1/y/root");
  mkfifo((path + "/x/fifo").c_str(), 0600);
  process::TreeRemoval removal(path);
  Left result = Left::more;
  while (result == Left::more) result = removal.next_step(20ms);
  CHECK(result == Left::gone);
  CHECK(directory.read("precious") == "keep me");
}

TEST_CASE("directories closed to their owner are opened and removed") {
  const TempDir directory;
  const std::string path = directory.path() + "/closed";
  std::filesystem::create_directories(path + "/a/b/c");
  const bool as_root = is_root();
  if (as_root) {  // root may access everything, so the test acts as another user
    for (const char* name : {"", "/a", "/a/b", "/a/b/c"})
      REQUIRE(chown((path + name).c_str(), 61234, 61234) == 0);
    REQUIRE(chmod(directory.path().c_str(), 0777) == 0);
    REQUIRE(seteuid(61234) == 0);
  }
  chmod((path + "/a/b").c_str(), 0);
  chmod((path + "/a").c_str(), 0500);
  process::TreeRemoval removal(path);
  CHECK(removal.next_step(10s) == Left::gone);
  if (as_root) REQUIRE(seteuid(0) == 0);
  if (as_root) prctl(PR_SET_DUMPABLE, 1);  // as before the test
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a directory of another user that a run moved into its own is kept") {
  if (!is_root()) {
    MESSAGE("needs root, to have files of several users: skipped");
    return;
  }
  constexpr uid_t runs_user = 61234;
  const TempDir directory;
  const std::string path = directory.path() + "/run";
  std::filesystem::create_directories(path + "/mine/deep/moved/inner");
  std::filesystem::create_directories(path + "/taken");
  for (const char* name : {"", "/mine", "/mine/deep"})
    REQUIRE(chown((path + name).c_str(), runs_user, runs_user) == 0);
  for (const char* name : {"/mine/deep/moved", "/mine/deep/moved/inner", "/taken"})
    REQUIRE(chown((path + name).c_str(), 61235, 61235) == 0);
  // The run itself could remove files and empty directories of others in its own directories.
  directory.file("run/mine/file", "x");
  directory.file("run/mine/deep/moved/precious", "keep me");
  directory.file("run/taken/precious", "keep me");
  process::TreeRemoval removal(path, runs_user);
  Left result = Left::more;
  while (result == Left::more) result = removal.next_step(1s);
  CHECK(result == Left::stays);
  CHECK(removal.problem().find("it belongs to user 61235, not to the user of the run") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path + "/mine/file"));
  CHECK(directory.read("run/taken/precious") == "keep me");
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.path().filename() == "precious") ++kept;
  CHECK(kept == 2);
  // A directory of another user in place of the run's own directory is kept as a whole.
  REQUIRE(chown(path.c_str(), 61235, 61235) == 0);
  CHECK(removal.next_step(1s) == Left::stays);
  // Runs as root have no such restriction.
  process::TreeRemoval of_root(path);
  result = Left::more;
  while (result == Left::more) result = of_root.next_step(1s);
  CHECK(result == Left::gone);
}

TEST_CASE("another directory with the same name is kept") {
  const TempDir directory;
  const std::string path = directory.path() + "/one";
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  process::TreeRemoval removal(path);
  REQUIRE(rename(path.c_str(), (directory.path() + "/aside").c_str()) == 0);
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  CHECK(removal.next_step(1s) == Left::gone);
  CHECK(std::filesystem::exists(path));
  REQUIRE(rmdir(path.c_str()) == 0);
  REQUIRE(symlink((directory.path() + "/aside").c_str(), path.c_str()) == 0);
  CHECK(removal.next_step(1s) == Left::gone);
  CHECK(std::filesystem::exists(directory.path() + "/aside"));
}

TEST_CASE(
    "a directory that cannot be removed is reported once, retried, and reported when removed") {
  if (!is_root()) {
    MESSAGE("needs root, to mount something: skipped");
    return;
  }
  const TempDir directory;
  const std::string path = directory.path() + "/mounted";
  std::filesystem::create_directories(path + "/a/b");
  if (mount("none", (path + "/a/b").c_str(), "tmpfs", 0, nullptr) != 0) return;
  loop::Loop loop;
  Watched watched(loop);
  watched.directories.remove(path);
  CHECK(turn_until(loop, [&] { return watched.said.size() == 1; }));
  CHECK(watched.said.at(0).starts_with(path + ": "));
  // The removal of another directory does not wait for it.
  const std::string other = directory.path() + "/other";
  std::filesystem::create_directories(other + "/x/y");
  watched.directories.remove(other);
  CHECK(turn_until(loop, [&] { return watched.directories.left() == 1; }));
  CHECK_FALSE(std::filesystem::exists(other));
  REQUIRE(umount2((path + "/a/b").c_str(), 0) == 0);
  CHECK(turn_until(loop, [&] { return watched.said.size() == 2; }));
  CHECK(watched.said.back() == path + ": ");
  CHECK(watched.directories.left() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace remove_folder_test
