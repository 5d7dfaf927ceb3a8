// Program that spawns a child, prints its process ID and waits to be killed. Arguments: user of the
// child, and "service" to start it through the spawn service. With --spawn-helper it is the helper.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "process/child.hpp"
#include "process/credentials.hpp"
#include "process/spawn.hpp"
#include "process/spawn_helper.hpp"
#include "process/spawn_service.hpp"

namespace {

using namespace w8y;
using namespace w8y::process;

void tell(pid_t pid) {
  std::printf("%d\n", pid);
  std::fflush(stdout);
}

struct Teller : ChildHandler {
  void on_begun() override { tell((*child)->pid()); }
  void on_output(Stream, std::string_view) override {}
  void on_ended(ProcessEnd end) override {
    std::fprintf(stderr, "%s\n", end_text(end).c_str());
    std::exit(1);
  }
  std::optional<Child>* child = nullptr;
};

void spawn_by_service(SpawnRequest&& request) {
  loop::Loop loop;
  SpawnService service(loop);
  ChildOptions options;
  options.spawn = std::move(request);
  options.service = &service;
  std::optional<Child> child;
  Teller teller;
  teller.child = &child;
  child.emplace(loop, std::move(options), teller);
  loop.run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == spawn_helper_word) return run_spawn_helper();
  SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  Account account;
  if (*argv[1] != '\0' && resolve({argv[1], {}}, account)) return 1;
  request.credentials = account.credentials;
  if (argc > 2) {
    spawn_by_service(std::move(request));
    return 1;
  }
  request.out = open("/dev/null", O_RDWR);
  request.err = request.out;
  Spawned spawned;
  if (const auto error = spawn(request, spawned)) {
    std::fprintf(stderr, "%s\n", error->text.c_str());
    return 1;
  }
  tell(spawned.pid);
  for (;;) pause();
}
