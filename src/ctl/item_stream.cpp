#include "ctl/item_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace w8y::ctl {

namespace {

constexpr std::size_t at_once = std::size_t{1} << 18;

}  // namespace

bool ItemStream::fill() {
  if (at_end_) return false;
  buffer_.resize(at_once);
  ssize_t count = 0;
  do {
    count = read(fd_, buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw std::system_error(errno, std::generic_category(), "standard input");
  buffer_.resize(static_cast<std::size_t>(count));
  at_ = 0;
  at_end_ = count == 0;
  return !at_end_;
}

std::optional<ItemStream::Line> ItemStream::next() {
  while (true) {
    Line line;
    bool delimited = false;
    while (!delimited && (at_ < buffer_.size() || fill())) {
      const std::size_t end = std::min(buffer_.find(delimiter_, at_), buffer_.size());
      const auto part = std::string_view(buffer_).substr(at_, end - at_);
      const auto kept = part.substr(0, longest_ - line.item.size());
      line.item += kept;
      line.too_long = line.too_long || kept.size() < part.size();
      delimited = end < buffer_.size();
      at_ = end + (delimited ? 1 : 0);
    }
    if (!delimited && line.item.empty()) return std::nullopt;
    line.number = ++number_;
    if (with_empty_ || !line.item.empty()) return line;
  }
}

}  // namespace w8y::ctl
