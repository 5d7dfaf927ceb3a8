#include "ops/journal.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace w8y::ops {

namespace {

/// Appends a field in the form for any bytes: its name, a newline, the length of the value in 64
/// bits of little endian, the value, and a newline.
void append_field(std::string& entry, std::string_view name, std::string_view value) {
  entry.append(name).push_back('\n');
  const std::uint64_t size = value.size();
  for (unsigned shift = 0; shift < 64; shift += 8)
    entry.push_back(static_cast<char>((size >> shift) & 0xff));
  entry.append(value).push_back('\n');
}

bool wait_until_writable(int fd, int timeout_ms) {
  pollfd poll_fd = {fd, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

std::string journal_entry(int priority, std::string_view message, const JournalFields& fields) {
  std::string entry;
  append_field(entry, "PRIORITY", std::to_string(priority));
  append_field(entry, "SYSLOG_IDENTIFIER", program_invocation_short_name);
  append_field(entry, "MESSAGE", message);
  for (const auto& [name, value] : fields) append_field(entry, name, value);
  return entry;
}

JournalSocket::JournalSocket(std::string path) : path_(std::move(path)) {}

JournalSocket::Sent JournalSocket::send(std::string_view entry, int timeout_ms) {
  // A second attempt follows if an earlier journald had the socket.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!fd_ && !connect()) return Sent::impossible;
    for (int left = timeout_ms;; left = 0) {
      const auto sent = ::send(fd_.get(), entry.data(), entry.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) return Sent::yes;
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOBUFS) break;
      if (left == 0 || !wait_until_writable(fd_.get(), left)) return Sent::busy;
    }
    if (errno == EMSGSIZE) return Sent::impossible;
    fd_.reset();
  }
  return Sent::impossible;
}

bool JournalSocket::connect() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  fd_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd_) return false;
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return true;
  fd_.reset();
  return false;
}

}  // namespace w8y::ops
