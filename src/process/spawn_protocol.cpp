#include "process/spawn_protocol.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace w8y::process {

namespace {

/// Limit of a message. The rest of the socket's buffer is for further messages.
constexpr std::size_t max_message = std::size_t{32} << 10;
constexpr std::size_t max_fds = 6;

class Writer {
 public:
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  std::string release() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      good_ = false;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      good_ = false;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  void texts(std::vector<std::string>& values) {
    for (std::uint64_t left = number(); left > 0 && good_; --left) values.push_back(text());
  }
  [[nodiscard]] bool done() const { return good_ && rest_.empty(); }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

constexpr std::uint64_t bit(bool value, unsigned place) {
  return static_cast<std::uint64_t>(value) << place;
}

bool has(std::uint64_t flags, unsigned place) {
  return (flags >> place & 1) != 0;
}

void write_credentials(Writer& out, const Credentials& credentials) {
  out.number(credentials.uid);
  out.number(credentials.gid);
  out.number(credentials.groups.size());
  for (const gid_t group : credentials.groups) out.number(group);
}

Credentials read_credentials(Reader& in) {
  Credentials credentials;
  credentials.uid = static_cast<uid_t>(in.number());
  credentials.gid = static_cast<gid_t>(in.number());
  for (std::uint64_t left = in.number(); left > 0 && in.good(); --left)
    credentials.groups.push_back(static_cast<gid_t>(in.number()));
  return credentials;
}

/// Returns the first byte of a message, which shows the descriptors present.
unsigned char mask_of(const FdNumbers& fds) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < fds.size(); ++i)
    if (fds.at(i) >= 0) mask |= 1U << i;
  return static_cast<unsigned char>(mask);
}

constexpr unsigned char in_memory = 0x80;

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_fds * sizeof(int))> bytes{};
};

int send_message(int socket, iovec* parts, std::size_t count, const std::vector<int>& fds,
                 int flags) {
  Control control;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  if (!fds.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  while (sendmsg(socket, &message, flags | MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return errno;
  return 0;
}

ssize_t receive_message(int socket, iovec* parts, std::size_t count, std::vector<Fd>& fds,
                        int flags) {
  Control control;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return got;
}

/// Stores bytes in an unnamed file; -1: errno is the reason.
Fd put_in_memory(const std::string& bytes) {
  Fd file(memfd_create("w8yd-spawn", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < bytes.size();) {
    const ssize_t count = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return file;
}

bool read_from_memory(const Fd& file, std::string& bytes) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return false;
  bytes.resize(static_cast<std::size_t>(status.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        pread(file.get(), &bytes[done], bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

std::string encode(std::uint64_t id, const SpawnRequest& request) {
  Writer out;
  out.number(id);
  out.number(bit(request.own_session, 0) | bit(request.close_others, 1) |
             bit(request.die_with_parent, 2) | bit(request.no_new_privs, 3) |
             bit(request.keep_ignored, 4) | bit(request.credentials.has_value(), 5) |
             bit(request.umask.has_value(), 6) | bit(request.nice.has_value(), 7));
  out.text(request.program);
  out.texts(request.argv);
  out.texts(request.env);
  out.text(request.env_file);
  out.texts(request.env_over);
  out.text(request.cwd);
  if (request.credentials) write_credentials(out, *request.credentials);
  out.number(request.umask.value_or(0));
  out.number(static_cast<std::uint64_t>(request.nice.value_or(0)));
  out.number(request.rlimits.size());
  for (const ResourceLimit& limit : request.rlimits) {
    out.number(static_cast<std::uint64_t>(limit.resource));
    out.number(limit.value.has_value() ? 1 : 0);
    out.number(limit.value.value_or(0));
  }
  return out.release();
}

bool decode(std::string_view bytes, std::uint64_t& id, SpawnRequest& request) {
  Reader in(bytes);
  id = in.number();
  const std::uint64_t flags = in.number();
  request.own_session = has(flags, 0);
  request.close_others = has(flags, 1);
  request.die_with_parent = has(flags, 2);
  request.no_new_privs = has(flags, 3);
  request.keep_ignored = has(flags, 4);
  request.program = in.text();
  in.texts(request.argv);
  in.texts(request.env);
  request.env_file = in.text();
  in.texts(request.env_over);
  request.cwd = in.text();
  if (has(flags, 5)) request.credentials = read_credentials(in);
  const auto umask = static_cast<unsigned>(in.number());
  if (has(flags, 6)) request.umask = umask;
  const auto nice = static_cast<int>(static_cast<std::int64_t>(in.number()));
  if (has(flags, 7)) request.nice = nice;
  for (std::uint64_t left = in.number(); left > 0 && in.good(); --left) {
    ResourceLimit limit;
    limit.resource = static_cast<int>(in.number());
    const bool bounded = in.number() != 0;
    const std::uint64_t value = in.number();
    if (bounded) limit.value = value;
    request.rlimits.push_back(std::move(limit));
  }
  return in.done();
}

int send_request(int socket, const std::string& bytes, const FdNumbers& fds) {
  unsigned char mask = mask_of(fds);
  std::vector<int> all;
  for (const int fd : fds)
    if (fd >= 0) all.push_back(fd);
  std::array<iovec, 2> parts{};
  parts[0] = {&mask, 1};
  parts[1] = {const_cast<char*>(bytes.data()), bytes.size()};
  if (bytes.size() <= max_message) return send_message(socket, parts.data(), 2, all, MSG_DONTWAIT);
  const Fd file = put_in_memory(bytes);
  if (!file) return errno;
  mask |= in_memory;
  all.push_back(file.get());
  return send_message(socket, parts.data(), 1, all, MSG_DONTWAIT);
}

bool receive_request(int socket, std::string& bytes, SpawnFds& fds) {
  unsigned char mask = 0;
  bytes.resize(max_message);
  std::array<iovec, 2> parts{};
  parts[0] = {&mask, 1};
  parts[1] = {bytes.data(), bytes.size()};
  std::vector<Fd> all;
  const ssize_t got = receive_message(socket, parts.data(), 2, all, 0);
  if (got <= 0) return false;
  bytes.resize(static_cast<std::size_t>(got) - 1);
  std::size_t next = 0;
  const auto take = [&](unsigned place, Fd& into) {
    if (has(mask, place) && next < all.size()) into = std::move(all[next++]);
  };
  take(0, fds.status);
  for (unsigned i = 0; i < fds.streams.size(); ++i) take(1 + i, fds.streams.at(i));
  take(4, fds.group);
  if ((mask & in_memory) == 0) return true;
  return next < all.size() && read_from_memory(all[next], bytes);
}

bool send_reply(int socket, const SpawnReply& reply, int pidfd) {
  iovec part = {const_cast<SpawnReply*>(&reply), sizeof reply};
  std::vector<int> fds;
  if (pidfd >= 0) fds.push_back(pidfd);
  return send_message(socket, &part, 1, fds, 0) == 0;
}

int receive_reply(int socket, SpawnReply& reply, Fd& pidfd) {
  iovec part = {&reply, sizeof reply};
  std::vector<Fd> fds;
  const ssize_t got = receive_message(socket, &part, 1, fds, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got != static_cast<ssize_t>(sizeof reply)) return -1;
  if (!fds.empty()) pidfd = std::move(fds.front());
  return 1;
}

}  // namespace w8y::process
