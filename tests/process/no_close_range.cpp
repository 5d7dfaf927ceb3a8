// Lists the descriptors of a child on a system without close_range.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "process/spawn.hpp"

namespace {

bool forbid_close_range() {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main() {
  for (int fd = 10; fd < 1000; ++fd) dup2(0, fd);
  if (!forbid_close_range() || close_range(900, 901, 0) == 0) return 1;
  w8y::process::SpawnRequest request;
  request.program = "/bin/ls";
  request.argv = {"ls", "/proc/self/fd"};
  w8y::process::Spawned spawned;
  if (const auto error = w8y::process::spawn(request, spawned)) {
    std::fprintf(stderr, "%s\n", error->text.c_str());
    return 1;
  }
  int status = 0;
  return waitpid(spawned.pid, &status, 0) == spawned.pid ? WEXITSTATUS(status) : 1;
}
