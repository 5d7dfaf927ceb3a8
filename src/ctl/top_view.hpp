// Screen of `w8yctl top` as lines of text: its contents, their order, and the effect of keys.
// Independent of the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "ctl/table.hpp"
#include "ctl/top_snapshot.hpp"

namespace w8y::ctl {

struct TopLine {
  enum class Style { plain, heading, footer };
  std::vector<Cell> cells;  ///< side by side, including gaps
  Style style = Style::plain;
};

struct TopKey {
  enum class Kind { text, enter, escape, backspace, up, down, page_up, page_down, home, end, tab };
  Kind kind = Kind::text;
  std::string text;  ///< one character, in UTF-8
};

class TopView {
 public:
  enum class Sort { problems, name, running, rate, failures };
  enum class Shown { both, lists, runs };

  /// Handles a key. False: the user quits.
  bool press(const TopKey& key);
  /// Sets the last status, and the error of later reads; an empty error means none.
  void set(TopSnapshot stats) { stats_ = std::move(stats); }
  void set_error(std::string error) { error_ = std::move(error); }
  [[nodiscard]] bool frozen() const { return frozen_; }

  /// Returns at most `height` lines of at most `width` columns.
  std::vector<TopLine> lines(std::size_t width, std::size_t height);

 private:
  bool command(const std::string& key);
  bool edit_filter(const TopKey& key);
  void scroll(long by);
  [[nodiscard]] bool fits(const std::string& name) const;
  [[nodiscard]] std::vector<const TopList*> chosen_lists() const;
  struct TopRun {
    std::string list;  ///< escaped
    const RunStatus* run;
  };
  [[nodiscard]] std::size_t running() const;
  /// Returns the runs of these lists, the longest duration first.
  [[nodiscard]] std::vector<TopRun> chosen_runs() const;
  void add_head(std::vector<TopLine>& to, std::size_t width) const;
  void add_lists(std::vector<TopLine>& to, std::size_t width, std::size_t rows);
  void add_runs(std::vector<TopLine>& to, std::size_t width, std::size_t rows);
  [[nodiscard]] TopLine footer(std::size_t width) const;

  TopSnapshot stats_;
  std::string error_;
  Sort sort_ = Sort::problems;
  Shown shown_ = Shown::both;
  std::string filter_;
  bool editing_ = false;
  bool frozen_ = false;
  bool help_ = false;
  std::size_t first_ = 0;  ///< topmost row
  std::size_t page_ = 10;  ///< rows on the screen
};

}  // namespace w8y::ctl
