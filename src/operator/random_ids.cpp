#include "operator/random_ids.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace w8y::verbs {

namespace {

constexpr std::size_t bytes_of_id = 16;

void fill(unsigned char* into, std::size_t count) {
  while (count > 0) {
    const ssize_t got = getrandom(into, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    into += got;
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace

std::string RandomIds::next() {
  if (at_ + bytes_of_id > bytes_.size()) {
    fill(bytes_.data(), bytes_.size());
    at_ = 0;
  }
  unsigned char* id = bytes_.data() + at_;
  at_ += bytes_of_id;
  // Version 4 of RFC 4122.
  id[6] = static_cast<unsigned char>((id[6] & 0x0fU) | 0x40U);
  id[8] = static_cast<unsigned char>((id[8] & 0x3fU) | 0x80U);
  std::string text;
  text.reserve(2 * bytes_of_id);
  for (std::size_t i = 0; i < bytes_of_id; ++i) {
    text += "0123456789abcdef"[id[i] >> 4U];
    text += "0123456789abcdef"[id[i] & 0x0fU];
  }
  return text;
}

}  // namespace w8y::verbs
