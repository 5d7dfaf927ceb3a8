/* sleeper: an executor, or any program, that lives until it is killed. */
#include "bare.h"

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--caps") == 0)
    return puts("{\"type\":\"caps\",\"caps\":[\"single\"]}") < 0;
  for (;;) pause();
}
