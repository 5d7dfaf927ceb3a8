#include "process/find_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace w8y::process {

namespace {

constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";

enum class Permission { executable, denied, absent };

Permission permission_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return errno == EACCES ? Permission::denied : Permission::absent;
  const bool runs = S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
  return runs ? Permission::executable : Permission::denied;
}

}  // namespace

ProgramSearch find_program(const std::string& program) {
  if (program.empty() || program.find('\0') != std::string::npos) return {{}, "not found"};
  if (program.find('/') != std::string::npos) {
    const Permission found = permission_of(program);
    if (found == Permission::executable) return {program, {}};
    return {{}, found == Permission::absent ? "not found" : "not executable"};
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? usual_path : variable;
  bool cannot_run = false;
  for (;;) {
    const std::size_t end = rest.find(':');
    const std::string_view directory = rest.substr(0, end);
    if (!directory.empty() && directory.front() == '/') {
      std::string path = std::string(directory) + '/' + program;
      const Permission found = permission_of(path);
      if (found == Permission::executable) return {std::move(path), {}};
      // A directory of that name, or one without permission, does not hide later programs.
      if (found == Permission::denied) cannot_run = true;
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {{}, cannot_run ? "not executable" : "not found"};
}

}  // namespace w8y::process
