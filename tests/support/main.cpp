// The main of every doctest program, compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // as our programs do: a child may close its input
  return doctest::Context(argc, argv).run();
}
