#include "ctl/arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "ctl/failure.hpp"

namespace w8y::ctl {

namespace {

constexpr int no_end = CLI::detail::expected_max_vector_size;
/// Mark before an argument without special meaning.
constexpr char hides = '\1';
/// Mark before an argument that followed `--`.
constexpr char is_literal = '\2';

/// Returns whether CLI11 would split the argument, as it does with brackets.
bool in_brackets(std::string_view word) {
  return !word.empty() && word.front() == '[' && word.back() == ']';
}

bool is_mark(char character) {
  return character == hides || character == is_literal;
}

}  // namespace

std::string Arguments::hidden(const std::string& word, bool literal) {
  if (literal) return is_literal + word;
  if (in_brackets(word) || (!word.empty() && is_mark(word.front()))) return hides + word;
  const auto equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    const std::string value = word.substr(equals + 1);
    if (in_brackets(value) || (!value.empty() && is_mark(value.front())))
      return word.substr(0, equals + 1) + hides + value;
  }
  return word;
}

Argument Arguments::shown(const std::string& word) {
  if (word.empty() || !is_mark(word.front())) return {word};
  return {word.substr(1), word.front() == is_literal};
}

void Arguments::show_all(std::string& text) {
  std::erase_if(text, is_mark);
}

void Arguments::accepts(CLI::Option* option, bool only_last, Take take) {
  accepted_.emplace_back([option, only_last, take = std::move(take)] {
    const auto& words = option->results();
    for (std::size_t i = only_last && !words.empty() ? words.size() - 1 : 0; i < words.size(); ++i)
      take(shown(words[i]));
  });
}

CLI::Option* Arguments::positional(const char* name, const char* what, Take take) {
  CLI::Option* option = app_.add_option(name)->description(what)->type_name("");
  accepts(option, false, std::move(take));
  return option;
}

void Arguments::one(const char* name, const char* what, Take take) {
  positional(name, what, std::move(take))->expected(1)->required();
}

void Arguments::one_or_none(const char* name, const char* what, Take take) {
  positional(name, what, std::move(take))->expected(1);
}

void Arguments::many(const char* name, const char* what, Take take) {
  positional(name, what, std::move(take))->expected(1, no_end)->allow_extra_args()->required();
}

void Arguments::any_number(const char* name, const char* what, Take take) {
  positional(name, what, std::move(take))->expected(1, no_end)->allow_extra_args();
}

void Arguments::option(const char* name, const char* type, const char* needs, const char* what,
                       Take take) {
  CLI::Option* option = app_.add_option(name)->description(what)->type_name(type)->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::string_view names = name;
  for (auto comma = names.find(','); !names.empty(); comma = names.find(',')) {
    needs_[std::string(names.substr(0, comma))] = needs;
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
  accepts(option, true, std::move(take));
}

void Arguments::flag(const char* name, const char* what, bool& into) {
  app_.add_flag(name, into, what);
}

void Arguments::parse() {
  for (const auto& take : accepted_) take();
}

std::string Arguments::needs_of(const std::string& option) const {
  const auto found = needs_.find(option);
  return found == needs_.end() ? std::string() : found->second;
}

}  // namespace w8y::ctl
