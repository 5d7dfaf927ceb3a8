// The words of a command line, as commands declare and take them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace w8y::ctl {

struct Argument {
  std::string text;
  bool literal = false;  ///< stood after `--`: '-' in it has no meaning
};

/// Declares the words of one command. What was given is handed on by take(), in the order in which
/// it was declared.
class Arguments {
 public:
  using Take = std::function<void(Argument&&)>;

  explicit Arguments(CLI::App& app) : app_(app) {}

  void one(const char* name, const char* what, Take take);
  void one_or_none(const char* name, const char* what, Take take);
  void many(const char* name, const char* what, Take take);
  void any_number(const char* name, const char* what, Take take);
  /// `needs` says what is missing when nothing follows: "a duration, such as 1h". Given twice, the
  /// last one counts.
  void option(const char* name, const char* type, const char* needs, const char* what, Take take);
  void flag(const char* name, const char* what, bool& into);

  /// Is called when all that was declared before it has been taken.
  void then(std::function<void()> check) { takes_.push_back(std::move(check)); }

  /// Throws Failure for what can't be taken.
  void take();

  [[nodiscard]] CLI::App& app() const { return app_; }
  /// What an option needs; empty: nothing is known.
  [[nodiscard]] std::string needs_of(const std::string& option) const;

  // Words that CLI11 would take for something else are hidden from it.
  static std::string hidden(const std::string& word, bool literal);
  static Argument shown(const std::string& word);
  /// For messages of CLI11.
  static void show_all(std::string& text);

 private:
  CLI::Option* positional(const char* name, const char* what, Take take);
  void takes(CLI::Option* option, bool only_last, Take take);

  CLI::App& app_;
  std::vector<std::function<void()>> takes_;
  std::map<std::string, std::string> needs_;  ///< by option
};

}  // namespace w8y::ctl
