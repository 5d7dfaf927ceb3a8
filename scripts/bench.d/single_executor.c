/* single_executor: reads its input to the end and prints a complete message. */
#include "bare.h"

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--caps") == 0)
    return puts("{\"type\":\"caps\",\"caps\":[\"single\"]}") < 0;
  char in[4096];
  ssize_t got;
  while ((got = read(0, in, sizeof in)) > 0) {
  }
  static const char done[] = "{\"type\":\"complete\"}\n";
  return got < 0 || write(1, done, sizeof done - 1) < 0;
}
