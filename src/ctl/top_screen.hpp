// The terminal of `w8yctl top`. What is already there is not sent again.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ctl/top_view.hpp"

struct screen;  // of ncurses

namespace w8y::ctl {

/// Has the whole terminal while it lives. One at a time.
class TopScreen {
 public:
  /// Throws Failure where standard output or input is no terminal, or one that can't be used so.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  void show(const std::vector<TopLine>& lines);

  enum class Input { none, key, resized };
  /// What is there already; never waits.
  Input read(TopKey& key);

 private:
  screen* screen_ = nullptr;
};

}  // namespace w8y::ctl
