/* bare_gearman PORT FUNCTION put COUNT
 * bare_gearman PORT FUNCTION work SECONDS PLACES
 *
 * With "put": a client that puts COUNT background jobs in the queue of a gearmand, each with a unique ID.
 * With "work": a worker that completes jobs at once, and requests PLACES of them at a time on one
 * connection. Prints the number of jobs that it has put or completed, and the seconds: fewer than SECONDS if
 * no job was left.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "bare.h"

enum type {
  can_do = 1,
  job_created = 8,
  no_job = 10,
  work_complete = 13,
  submit_job_background = 18,
  error_packet = 19,
  grab_job_unique = 30,
  job_assign_unique = 31
};
enum { header_size = 12, most_unanswered = 512 };

static int server;
static char in[1 << 18], out[1 << 18];
static size_t held, used, said;

static void flush(void) {
  for (size_t done = 0; done < said;) {
    const ssize_t wrote = write(server, out + done, said - done);
    if (wrote < 0) fail("write", errno);
    done += (size_t)wrote;
  }
  said = 0;
}

static void put_number(char *to, uint32_t number) {
  number = htonl(number);
  memcpy(to, &number, sizeof number);
}

static uint32_t number_at(const char *from) {
  uint32_t number;
  memcpy(&number, from, sizeof number);
  return ntohl(number);
}

static void packet(enum type type, const char *body, size_t size) {
  if (said + header_size + size > sizeof out) flush();
  memcpy(out + said, "\0REQ", 4);
  put_number(out + said + 4, (uint32_t)type);
  put_number(out + said + 8, (uint32_t)size);
  memcpy(out + said + header_size, body, size);
  said += header_size + size;
}

struct answer {
  enum type type;
  const char *body;
  size_t size;
};

/* Sends the written data before it waits for input. */
static struct answer next_answer(void) {
  for (;;) {
    if (held - used >= header_size) {
      const char *head = in + used;
      const size_t size = number_at(head + 8);
      if (size > sizeof in - header_size) fail("an answer is too long", EMSGSIZE);
      if (held - used >= header_size + size) {
        used += header_size + size;
        return (struct answer){(enum type)number_at(head + 4), head + header_size, size};
      }
    }
    flush();
    memmove(in, in + used, held - used);
    held -= used;
    used = 0;
    const ssize_t got = read(server, in + held, sizeof in - held);
    if (got <= 0) fail("read", got == 0 ? ECONNRESET : errno);
    held += (size_t)got;
  }
}

static void expect(struct answer answer, enum type type) {
  if (answer.type == type) return;
  fprintf(stderr, "bare_gearman: %s\n",
          answer.type == error_packet ? answer.body : "an answer of another type");
  exit(2);
}

static unsigned long put(const char *function, unsigned long count) {
  unsigned long answered = 0;
  for (unsigned long i = 0; i < count; ++i) {
    char body[600];
    const int size = snprintf(body, sizeof body, "%s%cbench-%d-%lu%citem-%lu", function, 0,
                              (int)getpid(), i, 0, i);
    packet(submit_job_background, body, (size_t)size);
    if (i - answered < most_unanswered) continue;
    expect(next_answer(), job_created);
    ++answered;
  }
  for (; answered < count; ++answered) expect(next_answer(), job_created);
  return count;
}

/* The result is the one that w8yd sends for a run whose "complete" has no other members. */
static void complete(struct answer job) {
  char body[256];
  const size_t handle = strnlen(job.body, job.size) + 1;
  if (handle + 2 > sizeof body) fail("a handle is too long", EMSGSIZE);
  memcpy(body, job.body, handle);
  memcpy(body + handle, "{}", 2);
  packet(work_complete, body, handle + 2);
}

static unsigned long work(const char *function, uint64_t until, unsigned long places) {
  unsigned long done = 0;
  packet(can_do, function, strlen(function));
  for (unsigned long i = 0; i < places; ++i) packet(grab_job_unique, "", 0);
  for (unsigned long open = places; open > 0;) {
    const struct answer job = next_answer();
    if (job.type == no_job) {
      --open;
      until = 0;
      continue;
    }
    expect(job, job_assign_unique);
    complete(job);
    ++done;
    if (now_ns() < until) {
      packet(grab_job_unique, "", 0);
    } else {
      --open;
    }
  }
  flush();
  return done;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(argv[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int on = 1;
  server = socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) != 0)
    fail("connect", errno);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const uint64_t since = now_ns();
  unsigned long done = 0;
  if (strcmp(argv[3], "put") == 0) {
    done = put(argv[2], strtoul(argv[4], NULL, 10));
  } else if (argc == 6) {
    const uint64_t span = (uint64_t)(strtod(argv[4], NULL) * 1e9);
    done = work(argv[2], since + span, strtoul(argv[5], NULL, 10));
  }
  printf("%lu %.6f\n", done, (double)(now_ns() - since) / 1e9);
  return 0;
}
