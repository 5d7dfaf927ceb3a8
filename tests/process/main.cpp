// Real processes, each in a session of its own; everything they need is in a folder of the test.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // as w8yd does: a child may close its input
  return doctest::Context(argc, argv).run();
}
