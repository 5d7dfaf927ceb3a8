// The only file that sees toml++.
#include <optional>
#include <utility>

// Each level is a level of recursion in toml++: no config of ours nests deeper than four.
#define TOML_MAX_NESTED_VALUES 32
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "core/config_tree.hpp"

namespace w8y::core {

namespace {

Place place_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

void convert_scalar(const toml::node& from, Node& to) {
  if (const auto* text = from.as_string()) {
    to.kind = Node::Kind::text;
    to.text = text->get();
  } else if (const auto* integer = from.as_integer()) {
    to.kind = Node::Kind::integer;
    to.integer = integer->get();
  } else if (const auto* real = from.as_floating_point()) {
    to.kind = Node::Kind::real;
    to.real = real->get();
  } else if (const auto* flag = from.as_boolean()) {
    to.kind = Node::Kind::flag;
    to.flag = flag->get();
  } else {
    to.kind = Node::Kind::date;
  }
}

Node convert(const toml::node& from) {
  Node to;
  to.place = place_of(from.source());
  if (const auto* table = from.as_table()) {
    to.kind = Node::Kind::table;
    to.items.reserve(table->size());
    for (auto&& [key, value] : *table) {
      Node& member = to.items.emplace_back(convert(value));
      member.key = key.str();
      member.key_place = place_of(key.source());
    }
  } else if (const auto* array = from.as_array()) {
    to.kind = Node::Kind::array;
    to.items.reserve(array->size());
    for (const auto& item : *array) to.items.push_back(convert(item));
  } else {
    convert_scalar(from, to);
  }
  return to;
}

/// Looks for what toml++ 3.3 can't bear: a dotted key of thousands of parts makes as many nested
/// tables, and their destructor recurses until the stack is full.
class DottedKeys {
 public:
  explicit DottedKeys(std::string_view text) : text_(text) {}

  std::optional<Place> find_too_deep() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '.' && ++dots_ > most_dots) return Place{line_, at_ - line_start_ + 1};
      if (std::string_view("[]{},=\n").find(c) != std::string_view::npos) dots_ = 0;
      step();
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_dots = 32;

  void step() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }

  void skip_string(char quote) {
    const bool multiline = text_.substr(at_, 3) == std::string(3, quote);
    const std::string end(multiline ? 3 : 1, quote);
    at_ += end.size();
    while (at_ < text_.size()) {
      if (text_.substr(at_, end.size()) == end) {
        at_ += end.size();
        // Up to two quotes right before the closing three belong to the text.
        for (int i = 0; multiline && i < 2 && text_.substr(at_, 1) == end.substr(0, 1); ++i) ++at_;
        return;
      }
      if (text_[at_] == '\n' && !multiline) return;
      if (text_[at_] == '\\' && quote == '"' && at_ + 1 < text_.size()) step();
      step();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t dots_ = 0;
};

Place place_of_byte(std::string_view text, std::size_t byte) {
  Place place{1, 1};
  for (std::size_t i = 0; i < byte; ++i) {
    place = text[i] == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
  }
  return place;
}

}  // namespace

const Node* Node::find(std::string_view member) const {
  for (const Node& item : items) {
    if (item.key == member) return &item;
  }
  return nullptr;
}

std::variant<Node, SyntaxError> parse_toml(std::string_view text) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return SyntaxError{place_of_byte(text, nul),
                       "has a NUL byte here, so it is no text; must be TOML in UTF-8"};
  }
  if (const auto deep = DottedKeys(text).find_too_deep()) {
    return SyntaxError{*deep, "has a key of too many parts; no key here has more than four"};
  }
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return SyntaxError{place_of(error.source()),
                       "is not valid TOML: " + std::string(error.description())};
  }
}

}  // namespace w8y::core
