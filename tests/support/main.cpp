// The main of every doctest program, compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // as our programs do: a child may close its input
  // A shell ignores these for what it starts in the background, and children inherit it.
  for (const int number : {SIGINT, SIGQUIT}) std::signal(number, SIG_DFL);
  return doctest::Context(argc, argv).run();
}
