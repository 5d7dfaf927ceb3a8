#include "process/cgroup_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/fd.hpp"

namespace w8y::process {

namespace {

constexpr std::string_view name_start = "w8yd-";
constexpr int check_ms = 5;

/// Replaces octal escapes: mountinfo writes blanks and backslashes as "\040".
std::string unescape_octal(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const bool escaped = text[i] == '\\' && i + 3 < text.size() &&
                         std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ptr ==
                             text.data() + i + 4;
    if (escaped) i += 3;
    result += escaped ? static_cast<char>(code) : text[i];
  }
  return result;
}

struct Mount {
  std::string root;  ///< group at the mount point
  std::string point;
};

/// Returns whether `word` is one of `words`, which commas separate.
bool has_option(const std::string& words, const std::string& word) {
  return (',' + words + ',').find(',' + word + ',') != std::string::npos;
}

/// Finds a mount. proc(5): "36 35 98:0 ROOT POINT options [tags…] - TYPE source options". In
/// version 1, a controller is one of the options.
std::optional<Mount> find_mount(const std::string& mountinfo, const std::string& type,
                                const std::string& controller) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos || line.compare(dash + 3, type.size() + 1, type + ' ') != 0)
      continue;
    if (!controller.empty() && !has_option(line.substr(line.rfind(' ') + 1), controller)) continue;
    std::istringstream fields(line);
    std::string skipped;
    Mount mount;
    fields >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    return Mount{unescape_octal(mount.root), unescape_octal(mount.point)};
  }
  return std::nullopt;
}

/// Returns the path in the line "NUMBER:CONTROLLERS:/path"; version 2 has no controllers there.
std::optional<std::string> own_path(const std::string& cgroup, const std::string& controller) {
  std::istringstream lines(cgroup);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_option(names, controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Returns the directory of a group below a mount; empty: it is not visible there.
std::string place_in(const Mount& mount, const std::string& path) {
  const std::string root = mount.root == "/" ? "" : mount.root;
  const bool below = path.compare(0, root.size(), root) == 0 &&
                     (path.size() == root.size() || path[root.size()] == '/');
  if (!below || path.find("/..") != std::string::npos) return {};
  const std::string rest = path.substr(root.size());
  return mount.point + (rest == "/" ? "" : rest);
}

/// Returns field 22 of /proc/PID/stat; the name before it may contain any character.
std::string start_of(pid_t pid) {
  const auto stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return {};
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(stat->substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

std::string pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? std::to_string(status.st_ino) : "0";
}

bool try_remove(const std::string& directory) {
  for (const std::string& inner : groups_in(directory)) try_remove(directory + '/' + inner);
  return rmdir(directory.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

std::string own_cgroup(const CgroupPlace& place, std::string& problem) {
  const auto mount = find_mount(read_small_file(place.mountinfo).value_or(""), "cgroup2", "");
  if (!mount) {
    problem = "no cgroup2 is mounted";
    return {};
  }
  const auto path = own_path(read_small_file(place.cgroup).value_or(""), "");
  if (!path) {
    problem = "this process has no control group of version 2";
    return {};
  }
  std::string directory = place_in(*mount, *path);
  if (directory.empty())
    problem = "the control group " + *path + " of w8yd is not visible below the mount point " +
              mount->point;
  return directory;
}

std::string own_cgroup_v1(const CgroupPlace& place, const std::string& controller) {
  const auto mount =
      find_mount(read_small_file(place.mountinfo).value_or(""), "cgroup", controller);
  const auto path = own_path(read_small_file(place.cgroup).value_or(""), controller);
  return mount && path ? place_in(*mount, *path) : "";
}

std::optional<std::string> read_small_file(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::optional<std::uint64_t> flat_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(name)) continue;
    std::string_view rest = line.substr(name.size());
    if (!name.empty() && !rest.starts_with(' ')) continue;
    if (!name.empty()) rest.remove_prefix(1);
    std::uint64_t value = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc{})
      return value;
    return std::nullopt;
  }
  return std::nullopt;
}

int write_small_file(const std::string& path, const std::string& text) {
  // In a group, only files of the kernel exist; in a test's directory, files can be created.
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return errno;
  ssize_t count = 0;
  do count = write(fd.get(), text.data(), text.size());
  while (count < 0 && errno == EINTR);
  return count < 0 ? errno : 0;
}

std::vector<std::string> groups_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  for (const auto end = std::filesystem::directory_iterator(); !error && entries != end;
       entries.increment(error)) {
    std::error_code ignored;
    if (entries->is_directory(ignored)) names.push_back(entries->path().filename().string());
  }
  return names;
}

std::size_t count_processes(const std::string& directory) {
  std::size_t count = 0;
  for (const char each : read_small_file(directory + "/cgroup.procs").value_or(""))
    if (each == '\n') ++count;
  for (const std::string& inner : groups_in(directory))
    count += count_processes(directory + '/' + inner);
  return count;
}

int kill_group(const std::string& directory) {
  return write_small_file(directory + "/cgroup.kill", "1");
}

bool remove_group(const std::string& directory, int wait_ms) {
  for (int waited = 0; !try_remove(directory); waited += check_ms) {
    if (waited >= wait_ms) return false;
    usleep(check_ms * 1000);
  }
  return true;
}

std::string group_name_of(pid_t pid) {
  return std::string(name_start) + pid_namespace() + '-' + std::to_string(pid) + '-' +
         start_of(pid);
}

bool is_left_behind(const std::string& name) {
  const std::string here = std::string(name_start) + pid_namespace() + '-';
  if (name.compare(0, here.size(), here) != 0) return false;
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(name.data() + here.size(), name.data() + name.size(), pid);
  if (error != std::errc() || end == name.data() + name.size() || *end != '-') return false;
  return name != group_name_of(pid);
}

}  // namespace w8y::process
