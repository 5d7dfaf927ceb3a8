#include "ctl/item_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "ctl/failure.hpp"
#include "ctl/text.hpp"

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

std::string read_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      path == "-" ? nullptr : std::fopen(path.c_str(), "rb"),
      [](std::FILE* file) { return file == nullptr ? 0 : std::fclose(file); });
  std::FILE* file = path == "-" ? stdin : opened.get();
  std::string text;
  std::vector<char> part(std::size_t{1} << 16);
  std::size_t got = 1;
  while (file != nullptr && got > 0 && text.size() <= most) {
    got = std::fread(part.data(), 1, part.size(), file);
    text.append(part.data(), got);
  }
  const std::string shown = path == "-" ? "standard input" : escape_text(path);
  if (file == nullptr || std::ferror(file) != 0)
    throw Failure(refused, shown + ": " + std::strerror(errno));
  if (text.size() > most) throw Failure(refused, shown + " is " + too_long_text());
  return text;
}

bool accepts(ItemStream::Line& line, bool base64, const char* effect) {
  std::optional<Item> item = std::move(line.item);
  if (base64 && !line.too_long) item = base64_decode(*item);
  const bool fits = item && !line.too_long && item->size() <= max_item;
  if (fits)
    line.item = std::move(*item);
  else
    complain("standard input, item " + std::to_string(line.number) + ": is " +
             (item ? too_long_text() + "; " + effect : "not base64, which --base64 requires"));
  return fits;
}

}  // namespace w8y::ctl
