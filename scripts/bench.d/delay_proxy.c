/* delay_proxy LISTEN TARGET MICROSECONDS: forwards each connection of the Unix socket LISTEN to TARGET. Delays all bytes
 * by MICROSECONDS in each direction, and does not limit the rate. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { max_connections = 64, piece_size = 1 << 18 };

struct piece {
  struct piece *next;
  long long due_ns;
  size_t size, sent;
  char bytes[];
};

/* One direction of a connection: bytes read from `from` are sent to `to`. */
struct way {
  int from, to; /* from: -1 after its end */
  int open;     /* to accepts bytes */
  struct piece *first, **last;
};

static struct way ways[2 * max_connections];
static int count;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void must(int good, const char *what) {
  if (good) return;
  perror(what);
  exit(1);
}

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  must(strlen(path) < sizeof address.sun_path, "length of the path");
  strcpy(address.sun_path, path);
  return address;
}

static void add_way(int from, int to) {
  struct way *way = &ways[count++];
  way->from = from;
  way->to = to;
  way->open = 1;
  way->last = &way->first;
}

static void accept_one(int listener, const char *target) {
  const struct sockaddr_un address = address_of(target);
  const int here = accept(listener, NULL, NULL), there = socket(AF_UNIX, SOCK_STREAM, 0);
  must(here >= 0 && there >= 0 && count + 2 <= 2 * max_connections, "accept");
  must(connect(there, (const struct sockaddr *)&address, sizeof address) == 0, "connect");
  add_way(here, there);
  add_way(there, here);
}

static void receive(struct way *way, long long delay_ns) {
  struct piece *piece = malloc(sizeof *piece + piece_size);
  must(piece != NULL, "malloc");
  const ssize_t got = read(way->from, piece->bytes, piece_size);
  if (got <= 0) {
    free(piece);
    way->from = -1;
    return;
  }
  piece = realloc(piece, sizeof *piece + (size_t)got);
  must(piece != NULL, "realloc");
  *piece = (struct piece){.due_ns = now_ns() + delay_ns, .size = (size_t)got};
  *way->last = piece;
  way->last = &piece->next;
}

/* Returns whether the socket is full. */
static int forward(struct way *way, long long now) {
  while (way->first != NULL && way->first->due_ns <= now) {
    struct piece *piece = way->first;
    const ssize_t sent = send(way->to, piece->bytes + piece->sent, piece->size - piece->sent,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return 1;
    /* The bytes of a closed connection are discarded. */
    piece->sent = sent < 0 ? piece->size : piece->sent + (size_t)sent;
    if (piece->sent < piece->size) return 1;
    way->first = piece->next;
    if (way->first == NULL) way->last = &way->first;
    free(piece);
  }
  if (way->first == NULL && way->from < 0 && way->open) {
    shutdown(way->to, SHUT_WR);
    way->open = 0;
  }
  return 0;
}

int main(int argc, char **argv) {
  must(argc == 4, "delay_proxy LISTEN TARGET MICROSECONDS");
  const long long delay_ns = atoll(argv[3]) * 1000;
  const struct sockaddr_un address = address_of(argv[1]);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  must(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0, "bind");
  must(listen(listener, max_connections) == 0, "listen");
  int full = 0;
  for (;;) {
    struct pollfd ready[1 + 2 * max_connections] = {{.fd = listener, .events = POLLIN}};
    long long due = -1;
    for (int i = 0; i < count; ++i) {
      ready[1 + i] = (struct pollfd){.fd = ways[i].from, .events = POLLIN};
      if (ways[i].first != NULL && (due < 0 || ways[i].first->due_ns < due)) due = ways[i].first->due_ns;
    }
    const int known = count;
    long long wait = due - now_ns();
    if (wait < 0) wait = full ? 100000 : 0;
    const struct timespec pause = {wait / 1000000000LL, wait % 1000000000LL};
    must(ppoll(ready, (nfds_t)(1 + known), due < 0 ? NULL : &pause, NULL) >= 0, "ppoll");
    if (ready[0].revents != 0) accept_one(listener, argv[2]);
    for (int i = 0; i < known; ++i)
      if (ready[1 + i].revents != 0) receive(&ways[i], delay_ns);
    const long long now = now_ns();
    full = 0;
    for (int i = 0; i < count; ++i) full |= forward(&ways[i], now);
  }
}
