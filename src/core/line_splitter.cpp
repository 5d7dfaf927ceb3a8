#include "core/line_splitter.hpp"

namespace w8y {

void LineSplitter::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    const bool ends = newline != std::string_view::npos;
    bytes.remove_prefix(ends ? newline + 1 : bytes.size());
    if (!dropping_) read(piece, ends, sink);
    if (ends) dropping_ = false;
  }
}

void LineSplitter::read(std::string_view piece, bool ends, const Sink& sink) {
  const std::size_t room = max_line_ - partial_.size();
  if (piece.size() <= room && ends && partial_.empty()) {
    ++counts_.lines;
    sink(piece, false);  // the usual case: no copy
    return;
  }
  partial_.append(piece.substr(0, room));
  if (piece.size() > room) {
    dropping_ = true;
  } else if (!ends) {
    return;
  }
  ++counts_.lines;
  if (dropping_) ++counts_.cut;
  sink(partial_, dropping_);
  partial_.clear();
}

void LineSplitter::finish(const Sink& sink) {
  if (!partial_.empty()) {
    ++counts_.lines;
    sink(partial_, false);
  }
  partial_.clear();
  dropping_ = false;
}

}  // namespace w8y
