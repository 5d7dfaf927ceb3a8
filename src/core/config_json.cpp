// Parses JSON into a tree of nodes with their locations, for the output of lists_from.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/config_tree.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

/// Maximum nesting. No config nests deeper than four; each level is a recursion in the tree's
/// destructor.
constexpr std::size_t deepest = 32;

/// Records how far the parser has read, because the parser reports no locations.
class Reader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Reader operator++(int) {
    const Reader before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Reader& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

/// Makes nodes from the events of the parser. A value starts at the first character after the
/// previous value that is not a blank, a comma or a colon.
class TreeMaker : public nlohmann::json::json_sax_t {
 public:
  explicit TreeMaker(std::string_view text) : text_(text), seen_(text.data()) {}

  [[nodiscard]] Reader begin() { return {text_.data(), &seen_}; }
  [[nodiscard]] Reader end() { return {text_.data() + text_.size(), &seen_}; }
  std::variant<Node, SyntaxError> result() {
    if (failed_) return std::move(error_);
    return std::move(root_);
  }

  bool null() override { return fail(place(), "is null; no key accepts null"); }
  bool boolean(bool value) override {
    Node& node = add(Node::Kind::flag);
    node.flag = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    Node& node = add(Node::Kind::integer);
    node.integer = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX))
      return fail(place(), "is a number that is too large");
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    Node& node = add(Node::Kind::real);
    node.real = value;
    return true;
  }
  bool string(string_t& value) override {
    Node& node = add(Node::Kind::text);
    node.text = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Kind::table); }
  bool start_array(std::size_t) override { return open(Node::Kind::array); }
  bool end_object() override { return shut(); }
  bool end_array() override { return shut(); }
  bool key(string_t& value) override {
    key_place_ = place();
    key_ = std::move(value);
    const Node& table = *open_.back();
    if (table.find(key_) != nullptr)
      return fail(key_place_, "has " + quote(key_) + " twice; remove one");
    last_end_ = seen_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    const std::size_t byte = position > 0 ? position - 1 : 0;
    return fail(place_of_byte(text_, std::min(byte, text_.size())), "is not valid JSON here");
  }

 private:
  /// Returns the location of the value that was just read.
  [[nodiscard]] Place place() {
    const char* at = last_end_ == nullptr ? text_.data() : last_end_;
    while (at < seen_ && std::string_view(" \t\r\n,:").find(*at) != std::string_view::npos) ++at;
    return from_known(at);
  }
  /// Locations only increase, so each is counted from the previous one.
  Place from_known(const char* where) {
    if (where < known_at_)
      return place_of_byte(text_, static_cast<std::size_t>(where - text_.data()));
    for (; known_at_ < where; ++known_at_) known_.pass(*known_at_);
    return known_;
  }
  Node& add(Node::Kind kind) {
    Node node;
    node.kind = kind;
    node.place = place();
    last_end_ = seen_;
    if (open_.empty()) {
      root_ = std::move(node);
      return root_;
    }
    Node& parent = *open_.back();
    if (parent.kind == Node::Kind::table) {
      node.key = std::move(key_);
      node.key_place = key_place_;
    }
    return parent.items.emplace_back(std::move(node));
  }
  bool open(Node::Kind kind) {
    if (open_.size() >= deepest) return fail(place(), "is nested deeper than any key accepts");
    open_.push_back(&add(kind));
    return true;
  }
  bool shut() {
    open_.pop_back();
    last_end_ = seen_;
    return true;
  }
  bool fail(Place where, std::string why) {
    if (!std::exchange(failed_, true)) error_ = {where, std::move(why)};
    return false;
  }

  std::string_view text_;
  const char* seen_;
  const char* last_end_ = nullptr;
  const char* known_at_ = text_.data();
  Place known_{1, 1};
  Node root_;
  std::vector<Node*> open_;  ///< the innermost last; their earlier children are complete
  std::string key_;
  Place key_place_;
  bool failed_ = false;
  SyntaxError error_;
};

}  // namespace

std::variant<Node, SyntaxError> parse_json(std::string_view text) {
  TreeMaker maker(text);
  nlohmann::json::sax_parse(maker.begin(), maker.end(), &maker);
  return maker.result();
}

}  // namespace w8y::core
