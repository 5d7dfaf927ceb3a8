#include "process/credentials.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <vector>

#include "process/error_text.hpp"

namespace w8y::process {

namespace {

constexpr std::size_t largest_entry = std::size_t{1} << 20;

/// Looks up an entry with getpwnam_r or a similar function; enlarges the buffer until the entry
/// fits.
template <typename Entry, typename LookUp>
int find_account(Entry& entry, Entry*& found, std::vector<char>& buffer, LookUp&& call) {
  buffer.resize(1024);
  for (;;) {
    const int error = call(&entry, buffer.data(), buffer.size(), &found);
    if (error != ERANGE || buffer.size() >= largest_entry) return error;
    buffer.resize(buffer.size() * 4);
  }
}

std::optional<unsigned> number_of(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // The largest number means "no change" in system calls.
  if (error != std::errc() || end != text.data() + text.size() || number == ~0U)
    return std::nullopt;
  return number;
}

SpawnError failed(const char* what, const std::string& name, int error) {
  return {error, "cannot look up " + std::string(what) + " '" + name + "': " + error_text(error)};
}

SpawnError missing(const char* what, const std::string& name) {
  return {ENOENT, "no such " + std::string(what) + " '" + name + "'"};
}

/// Returns whether the error means that there is no entry; see getpwnam_r(3).
bool means_absent(int error) {
  return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

std::optional<SpawnError> find_group(const std::string& name, gid_t& gid) {
  group entry{};
  group* found = nullptr;
  std::vector<char> buffer;
  const int error = find_account(entry, found, buffer,
                                 [&](group* into, char* text, std::size_t size, group** result) {
                                   return getgrnam_r(name.c_str(), into, text, size, result);
                                 });
  if (found != nullptr) {
    gid = found->gr_gid;
    return std::nullopt;
  }
  if (const auto number = number_of(name)) {
    gid = *number;
    return std::nullopt;
  }
  return means_absent(error) ? missing("group", name) : failed("group", name, error);
}

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;  ///< empty: a number without an account
  std::string home = "/";
  std::string shell = "/bin/sh";
};

std::optional<SpawnError> find_user(const std::string& name, User& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer;
  int error = find_account(entry, found, buffer,
                           [&](passwd* into, char* text, std::size_t size, passwd** result) {
                             return getpwnam_r(name.c_str(), into, text, size, result);
                           });
  const auto number = number_of(name);
  if (found == nullptr && number) {
    error = find_account(entry, found, buffer,
                         [&](passwd* into, char* text, std::size_t size, passwd** result) {
                           return getpwuid_r(*number, into, text, size, result);
                         });
  }
  if (found != nullptr) {
    user = {found->pw_uid, found->pw_gid, found->pw_name, found->pw_dir, found->pw_shell};
    if (user.shell.empty()) user.shell = "/bin/sh";
    return std::nullopt;
  }
  if (!means_absent(error)) return failed("user", name, error);
  if (!number) return missing("user", name);
  user.uid = *number;
  return std::nullopt;
}

std::vector<gid_t> groups_of(const std::string& name, gid_t gid) {
  std::vector<gid_t> groups(16);
  int count = static_cast<int>(groups.size());
  while (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0)
    groups.resize(std::max(static_cast<std::size_t>(count), groups.size() * 2)),
        count = static_cast<int>(groups.size());
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

std::vector<gid_t> our_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return groups;
}

/// Returns whether this process, without permission to change the account, already has it.
bool already(const Credentials& wanted) {
  return geteuid() != 0 && getuid() == wanted.uid && geteuid() == wanted.uid &&
         getgid() == wanted.gid && getegid() == wanted.gid;
}

}  // namespace

std::optional<SpawnError> resolve(const RunAs& run_as, Account& account) {
  account = {};
  if (!run_as.user && !run_as.group) return std::nullopt;
  Credentials wanted{getuid(), getgid(), {}};
  User user;
  if (run_as.user) {
    if (auto problem = find_user(*run_as.user, user)) return problem;
    if (user.name.empty() && !run_as.group)
      return SpawnError{EINVAL, "user " + *run_as.user + " has no account; set `group`, too"};
    wanted.uid = user.uid;
    wanted.gid = user.gid;
    account.name = user.name.empty() ? *run_as.user : user.name;
    account.home = user.home;
    account.shell = user.shell;
  }
  if (run_as.group)
    if (auto problem = find_group(*run_as.group, wanted.gid)) return problem;
  if (!run_as.user) {
    wanted.groups = our_groups();
  } else if (user.name.empty()) {
    wanted.groups = {wanted.gid};
  } else {
    wanted.groups = groups_of(user.name, wanted.gid);
  }
  if (!already(wanted)) account.credentials = std::move(wanted);
  return std::nullopt;
}

}  // namespace w8y::process
