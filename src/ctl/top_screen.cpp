#include "ctl/top_screen.hpp"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <string>

#include "core/escape.hpp"
#include "ctl/failure.hpp"

namespace w8y::ctl {

namespace {

constexpr wchar_t escape_key = 27;
constexpr wchar_t delete_key = 127;
constexpr int escape_wait_ms = 25;  ///< the bytes of one key arrive together

int attributes_of(const Cell& cell, TopLine::Style style) {
  int attributes = A_NORMAL;
  if (style == TopLine::Style::heading) attributes |= A_BOLD;
  if (style == TopLine::Style::footer) attributes |= A_REVERSE;
  if (cell.colour != Colour::none && colours_wanted() && has_colors())
    attributes |= COLOR_PAIR(static_cast<int>(cell.colour));
  // Without colours, errors are bold.
  else if (cell.colour == Colour::bad)
    attributes |= A_BOLD;
  return attributes;
}

void start_colours() {
  if (!has_colors()) return;
  start_color();
  use_default_colors();
  const auto pair = [](Colour colour, short shade) {
    init_pair(static_cast<short>(colour), shade, -1);
  };
  pair(Colour::good, COLOR_GREEN);
  pair(Colour::busy, COLOR_CYAN);
  pair(Colour::poor, COLOR_YELLOW);
  pair(Colour::bad, COLOR_RED);
}

std::string utf8_of(wchar_t character) {
  std::string text(MB_LEN_MAX, '\0');
  std::mbstate_t state{};
  const std::size_t size = std::wcrtomb(text.data(), character, &state);
  return size == static_cast<std::size_t>(-1) ? std::string() : text.substr(0, size);
}

bool special_key(wint_t code, TopKey& key) {
  using Kind = TopKey::Kind;
  switch (code) {
    case KEY_UP:
      key.kind = Kind::up;
      return true;
    case KEY_DOWN:
      key.kind = Kind::down;
      return true;
    case KEY_PPAGE:
      key.kind = Kind::page_up;
      return true;
    case KEY_NPAGE:
      key.kind = Kind::page_down;
      return true;
    case KEY_HOME:
      key.kind = Kind::home;
      return true;
    case KEY_END:
      key.kind = Kind::end;
      return true;
    case KEY_ENTER:
      key.kind = Kind::enter;
      return true;
    case KEY_BACKSPACE:
      key.kind = Kind::backspace;
      return true;
    default:
      return false;
  }
}

bool plain_key(wchar_t character, TopKey& key) {
  using Kind = TopKey::Kind;
  if (character == L'\n' || character == L'\r') {
    key.kind = Kind::enter;
  } else if (character == L'\t') {
    key.kind = Kind::tab;
  } else if (character == escape_key) {
    key.kind = Kind::escape;
  } else if (character == L'\b' || character == delete_key) {
    key.kind = Kind::backspace;
  } else if (character >= L' ') {
    key.kind = Kind::text;
    key.text = utf8_of(character);
  } else {
    return false;
  }
  return true;
}

}  // namespace

TopScreen::TopScreen() {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)
    throw Failure(wrong_usage,
                  "top needs a terminal; `w8yctl status` and `w8yctl lists` print once");
  const char* name = std::getenv("TERM");
  const std::string terminal = name == nullptr ? "" : name;
  if (terminal.empty() || terminal == "dumb" ||
      (screen_ = newterm(nullptr, stdout, stdin)) == nullptr)
    throw Failure(wrong_usage, "top cannot use this terminal (TERM is \"" + escape_text(terminal) +
                                   "\"); `w8yctl status` and `w8yctl lists` print once");
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, true);
  nodelay(stdscr, true);
  set_escdelay(escape_wait_ms);
  curs_set(0);
  start_colours();
}

TopScreen::~TopScreen() {
  endwin();
  delscreen(screen_);
}

std::size_t TopScreen::width() const {
  return static_cast<std::size_t>(std::max(getmaxx(stdscr), 0));
}

std::size_t TopScreen::height() const {
  return static_cast<std::size_t>(std::max(getmaxy(stdscr), 0));
}

void TopScreen::show(const std::vector<TopLine>& lines) {
  erase();
  for (std::size_t row = 0; row < lines.size(); ++row) {
    move(static_cast<int>(row), 0);
    for (const Cell& cell : lines[row].cells) {
      const int attributes = attributes_of(cell, lines[row].style);
      attron(attributes);
      addstr(cell.text.c_str());
      attroff(attributes);
    }
  }
  refresh();
}

TopScreen::Input TopScreen::read(TopKey& key) {
  for (;;) {
    wint_t code = 0;
    const int kind = get_wch(&code);
    if (kind == ERR) return Input::none;
    if (kind == KEY_CODE_YES && code == KEY_RESIZE) return Input::resized;
    const bool known =
        kind == KEY_CODE_YES ? special_key(code, key) : plain_key(static_cast<wchar_t>(code), key);
    if (known) return Input::key;
  }
}

}  // namespace w8y::ctl
