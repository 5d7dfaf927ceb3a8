// Capabilities of children: root keeps them, and every other child has none.
#include <doctest/doctest.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "spawn_service_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace capabilities_test {
namespace {

const std::string none = "0000000000000000";

/// Returns the four sets that must be empty for a child, as in /proc/self/status.
std::string sets_of(const std::string& status) {
  std::string sets;
  for (const char* name : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    sets += (sets.empty() ? "" : " ") + field(status, name);
  return sets;
}

const std::string no_sets = none + ' ' + none + ' ' + none + ' ' + none;

/// Mask of the capabilities that the test gives a process: to become another user, and to access
/// the programs of the test in any build directory.
constexpr std::uint32_t given =
    1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_DAC_OVERRIDE | 1U << CAP_KILL;

/// Puts `given` into the inheritable and the ambient set of this process.
bool raise_ambient(std::uint32_t permitted, std::uint32_t permitted_high) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  sets[0] = {permitted, permitted, given};
  sets[1] = {permitted_high, permitted_high, 0};
  if (syscall(SYS_capset, &header, sets.data()) != 0) return false;
  for (int number = 0; number < 32; ++number) {
    if ((given >> number & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0) return false;
  }
  return true;
}

bool raise_as_root() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  return syscall(SYS_capget, &header, sets.data()) == 0 &&
         raise_ambient(sets[0].permitted, sets[1].permitted);
}

bool become_stranger() {
  return prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(0, nullptr) == 0 &&
         setresgid(stranger, stranger, stranger) == 0 &&
         setresuid(stranger, stranger, stranger) == 0 && raise_ambient(given, 0);
}

/// Returns the result of `act` in a separate process, after `prepare` has succeeded there.
template <typename Prepare, typename Act>
std::string elsewhere(Prepare&& prepare, Act&& act) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    std::string result = "not prepared";
    try {
      if (prepare()) result = act();
    } catch (const std::exception& error) {
      result = error.what();
    }
    _exit(write(ends[1], result.data(), result.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string result;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;)
    result.append(piece.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return result;
}

process::ChildOptions status_of(std::optional<uid_t> user) {
  auto options = command({"/bin/cat", "/proc/self/status"});
  options.spawn.cwd = "/";
  if (user) options.spawn.credentials = process::Credentials{*user, *user, {}};
  return options;
}

std::string status_seen(std::optional<uid_t> user) {
  const Result result = run(status_of(user));
  return result.out + result.reason() + "\n";
}

/// Copy of cat with CAP_NET_RAW as a file capability, as ping has it.
std::string cat_with_capability(const TempDir& directory) {
  std::string program = directory / "cat";
  std::filesystem::copy_file("/bin/cat", program);
  vfs_cap_data data{};
  data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  data.data[0].permitted = 1U << CAP_NET_RAW;
  if (setxattr(program.c_str(), "security.capability", &data, sizeof data, 0) != 0) return {};
  return program;
}

}  // namespace

TEST_CASE("a child has no capability if w8yd has ambient capabilities and is not root") {
  if (can_not_be_tried()) return;
  const std::string before =
      elsewhere(become_stranger, [] { return read_file("/proc/self/status"); });
  REQUIRE(sets_of(before).find(none) == std::string::npos);  // the test is effective

  for (const std::optional<uid_t> user : {std::optional<uid_t>(), std::optional(stranger + 1)}) {
    const std::string status = elsewhere(become_stranger, [&] { return status_seen(user); });
    CHECK(field(status, "Uid").starts_with(std::to_string(user.value_or(stranger))));
    CHECK(sets_of(status) == no_sets);
    CHECK(field(status, "CapBnd") == field(before, "CapBnd"));
  }
}

TEST_CASE("the helper process keeps its capabilities, and its children have none") {
  if (can_not_be_tried()) return;
  const std::string status = elsewhere(become_stranger, [] {
    Served served;
    const Result result = served.run(served.prepared(status_of(stranger + 1), false));
    const std::string helper = "/proc/" + std::to_string(served.service.helper()) + "/status";
    return result.out + result.reason() + "\nHelper:\t" + field(read_file(helper), "CapEff") + "\n";
  });
  CHECK(field(status, "Uid").starts_with(std::to_string(stranger + 1)));
  CHECK(sets_of(status) == no_sets);
  CHECK(std::stoull(field(status, "Helper"), nullptr, 16) == given);
}

TEST_CASE("a child that changes from root to another user has no capability") {
  if (can_not_be_tried()) return;
  // Changing the user does not clear the inheritable set, and with this bit clears no set.
  const auto without_fixup = [] {
    return raise_as_root() && prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0;
  };
  const auto seen = [] { return status_seen(stranger); };
  for (const std::string& status :
       {elsewhere(raise_as_root, seen), elsewhere(without_fixup, seen)}) {
    CHECK(field(status, "Uid").starts_with(std::to_string(stranger)));
    CHECK(sets_of(status) == no_sets);
  }
}

TEST_CASE("a child that runs as root keeps the capabilities of w8yd") {
  if (can_not_be_tried()) return;
  const std::string before =
      elsewhere(raise_as_root, [] { return read_file("/proc/self/status"); });
  REQUIRE(field(before, "CapAmb") != none);
  for (const std::optional<uid_t> user : {std::optional<uid_t>(), std::optional<uid_t>(0)}) {
    const std::string status = elsewhere(raise_as_root, [&] { return status_seen(user); });
    CHECK(sets_of(status) == sets_of(before));
  }
  // A host without root, and a list with user = "root".
  const std::string status = elsewhere(become_stranger, [] { return status_seen(uid_t{0}); });
  CHECK(field(status, "Uid").starts_with("0"));
  CHECK(field(status, "CapEff") != none);
}

TEST_CASE("a program gets its file capabilities unless no_new_privs is set") {
  if (can_not_be_tried()) return;
  const TempDir directory;
  const std::string program = cat_with_capability(directory);
  if (program.empty()) {
    MESSAGE("needs a file system with capabilities: skipped");
    return;
  }
  for (const bool no_new_privs : {false, true}) {
    const std::string status = elsewhere(become_stranger, [&] {
      auto options = command({program, "/proc/self/status"});
      options.spawn.no_new_privs = no_new_privs;
      return run(options).out;
    });
    const std::uint64_t gained = no_new_privs ? 0 : 1U << CAP_NET_RAW;
    CHECK(std::stoull(field(status, "CapEff"), nullptr, 16) == gained);
  }
}

}  // namespace capabilities_test
