// Spawns a child that would live on, tells its pid and waits to be killed. Argument: its user.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "process/credentials.hpp"
#include "process/spawn.hpp"

int main(int, char** argv) {
  using namespace w8y::process;
  SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  request.out = open("/dev/null", O_RDWR);
  request.err = request.out;
  Account account;
  if (*argv[1] != '\0' && resolve({argv[1], {}}, account)) return 1;
  request.credentials = account.credentials;
  Spawned spawned;
  if (const auto error = spawn(request, spawned)) {
    std::fprintf(stderr, "%s\n", error->text.c_str());
    return 1;
  }
  std::printf("%d\n", spawned.pid);
  std::fflush(stdout);
  for (;;) pause();
}
