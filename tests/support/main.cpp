// main() of every doctest program, compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // as in the programs: a child may close its input
  // A shell starts background processes with these ignored, and children inherit that.
  for (const int number : {SIGINT, SIGQUIT}) std::signal(number, SIG_DFL);
  return doctest::Context(argc, argv).run();
}
