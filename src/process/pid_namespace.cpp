#include "process/pid_namespace.hpp"

#include <sys/stat.h>

namespace w8y::process {

bool in_own_pid_namespace() {
  // PROC_PID_INIT_INO of Linux: the number of the initial namespace.
  constexpr ino_t first_namespace = 0xEFFFFFFCU;
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) == 0 && space.st_ino != first_namespace;
}

}  // namespace w8y::process
