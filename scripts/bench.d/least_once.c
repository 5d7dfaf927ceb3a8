/* least_once SOCKET-OR-PORT PROGRAM [ARG…]
 *
 * The minimum for a program that runs another one for an item: it connects to Redis, makes one round trip,
 * starts the program, waits for it, and makes one more round trip. It is static, as w8y is. It makes no
 * decisions and holds no lock.
 */
#include "bare.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

static int connected_to(const char *where) {
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  struct sockaddr_in loopback = {.sin_family = AF_INET};
  const struct sockaddr *address = (const struct sockaddr *)&path;
  socklen_t size = sizeof path;
  if (where[0] == '/') {
    strncpy(path.sun_path, where, sizeof path.sun_path - 1);
  } else {
    loopback.sin_port = htons((uint16_t)atoi(where));
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address = (const struct sockaddr *)&loopback;
    size = sizeof loopback;
  }
  const int connection = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, address, size) != 0) fail(where, errno);
  return connection;
}

static void round_trip(int connection) {
  static const char ping[] = "*1\r\n$4\r\nPING\r\n";
  static const char pong[] = "+PONG\r\n";
  char answer[sizeof pong];
  size_t got = 0;
  if (write(connection, ping, sizeof ping - 1) != (ssize_t)sizeof ping - 1) fail("write", errno);
  while (got < sizeof pong - 1) {
    const ssize_t more = read(connection, answer + got, sizeof pong - 1 - got);
    if (more <= 0) fail("Redis is gone", more < 0 ? errno : EPIPE);
    got += (size_t)more;
  }
  if (memcmp(answer, pong, sizeof pong - 1) != 0) fail("Redis refuses PING", EPROTO);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int connection = connected_to(argv[1]);
  round_trip(connection);
  start(argv + 2);
  await_one(argv[2]);
  round_trip(connection);
  return 0;
}
