// Arguments and options of a command line, as subcommands declare and receive them.
#pragma once

#include <functional>
#include <map>
#include <optional>
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
  bool literal = false;  ///< after `--`, where '-' has no special meaning
};

/// Declares the arguments and options of one subcommand. parse() passes their values on, in the
/// order of declaration.
class Arguments {
 public:
  /// Where a value goes: to a function, or into a variable.
  class Take : public std::function<void(Argument&&)> {
   public:
    using function::function;
    Take(std::string& into) : function([&into](Argument&& word) { into = std::move(word.text); }) {}
    Take(std::optional<std::string>& into)
        : function([&into](Argument&& word) { into = std::move(word.text); }) {}
    Take(std::vector<std::string>& into)
        : function([&into](Argument&& word) { into.push_back(std::move(word.text)); }) {}
  };

  explicit Arguments(CLI::App& app) : app_(app) {}

  void one(const char* name, const char* what, Take take);
  void one_or_none(const char* name, const char* what, Take take);
  void many(const char* name, const char* what, Take take);
  void any_number(const char* name, const char* what, Take take);
  /// `needs` names the value that is missing if nothing follows: "a duration, such as 1h". If the
  /// option is repeated, its last value counts.
  void option(const char* name, const char* type, const char* needs, const char* what, Take take);
  void flag(const char* name, const char* what, bool& into);

  /// Adds a check that is called after all arguments declared so far were passed on.
  void then(std::function<void()> check) { accepted_.push_back(std::move(check)); }

  /// Passes all values on. Throws Failure for an invalid value.
  void parse();

  [[nodiscard]] CLI::App& app() const { return app_; }
  /// Returns the name of the value that an option needs; empty: not known.
  [[nodiscard]] std::string needs_of(const std::string& option) const;

  // Arguments that CLI11 would misinterpret are hidden from it.
  static std::string hidden(const std::string& word, bool literal);
  static Argument shown(const std::string& word);
  /// Removes the marks of hidden(), for messages of CLI11.
  static void show_all(std::string& text);

 private:
  CLI::Option* positional(const char* name, const char* what, Take take);
  void accepts(CLI::Option* option, bool only_last, Take take);

  CLI::App& app_;
  std::vector<std::function<void()>> accepted_;
  std::map<std::string, std::string> needs_;  ///< by option
};

}  // namespace w8y::ctl
