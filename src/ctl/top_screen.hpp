// Terminal of `w8yctl top`. Only the difference to the text on the screen is sent.
#pragma once

#include <cstddef>
#include <vector>

#include "ctl/top_view.hpp"

struct screen;  // of ncurses

namespace w8y::ctl {

/// Uses the whole terminal while it exists. At most one exists at a time.
class TopScreen {
 public:
  /// Throws Failure if standard output or input is not a terminal, or its terminal type is not
  /// usable.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  void show(const std::vector<TopLine>& lines);

  enum class Input { none, key, resized };
  /// Returns pending input; never waits.
  Input read(TopKey& key);

 private:
  screen* screen_ = nullptr;
};

}  // namespace w8y::ctl
