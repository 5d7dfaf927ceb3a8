// ReadContext one value of the configuration: each reader takes what is right, and reports what is
// not with what would be.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/config.hpp"
#include "core/config_tree.hpp"

namespace w8y::core {

/// What one reading of a configuration shares.
struct ReadContext {
  ConfigHost& host;
  bool root = false;  ///< what others can write is refused
  std::vector<ConfigDiagnostic> errors = {};
  std::vector<std::string> warnings = {};
};

template <class T>
struct Choice {
  const char* name;
  T value;
};

template <class T>
std::string name_of(std::span<const Choice<T>> choices, const T& value) {
  for (const Choice<T>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return {};
}

/// A node, with the way to it. Values live on the stack while they are read: a value refers to the
/// one that holds it.
class ConfigValue {
 public:
  ConfigValue(ReadContext& reading, const std::string& file, const Node& root)
      : reading_(&reading), file_(&file), node_(&root) {}
  /// A member of a table.
  [[nodiscard]] ConfigValue member(const Node& node) const { return ConfigValue(*this, node); }

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::string& file() const { return *file_; }
  [[nodiscard]] ReadContext& reading() const { return *reading_; }
  /// "lists.work.concurrency"
  [[nodiscard]] std::string path() const;
  /// The value as mistakes show it; of a secret only what kind of value it is.
  [[nodiscard]] std::string found() const;
  void keep_secret() { secret_ = true; }

  void wrong(const std::string& text) const { report(node_->place, text); }
  void wrong_key(const std::string& text) const { report(node_->key_place, text); }
  /// "is 3; must be …"
  void must_be(const std::string& text) const { wrong("is " + found() + "; must be " + text); }
  void warn(const std::string& text) const;

  // Readers: on a mistake `into` stays as it is, and the result is false.
  bool flag(bool& into) const;
  template <class T>
  bool integer(T& into, std::int64_t min, std::int64_t max) const {
    std::int64_t value = 0;
    if (!integer_in(value, min, max)) return false;
    into = static_cast<T>(value);
    return true;
  }
  bool real(double& into, double min, double max) const;
  bool duration(Duration& into, Duration min = Duration::zero()) const;
  bool size(std::uint64_t& into, std::uint64_t min, std::uint64_t max) const;
  /// Not empty, and without NUL: the kernel takes no such text.
  bool text(std::string& into, const std::string& what) const;
  /// Absolute: nothing is looked for in the working directory.
  bool path(std::string& into) const;
  /// An absolute path that root can rely on, where it is root that reads it. One that is only
  /// read for runs need not be there: the file is the same for every host, and the list is refused
  /// where it is missing.
  enum class IfMissing { error, refused_later };
  bool trusted_path(std::string& into, IfMissing if_missing = IfMissing::error) const;
  /// The same for a file with a secret: warns if every user can read it.
  bool secret_path(std::string& into) const;
  /// Warns if every user can read the file at `path`, which holds a secret.
  void warn_if_exposed(const std::string& path) const;
  /// An array of texts; `may_be_empty` is about each text.
  bool texts(std::vector<std::string>& into, const std::string& what, bool may_be_empty) const;
  bool is_table() const;

  template <class T>
  bool choice(T& into, std::span<const Choice<T>> choices) const {
    for (const Choice<T>& choice : choices) {
      if (node_->kind != Node::Kind::text || node_->text != choice.name) continue;
      into = choice.value;
      return true;
    }
    std::vector<std::string_view> names;
    for (const Choice<T>& choice : choices) names.push_back(choice.name);
    must_be_one_of(names);
    return false;
  }

 private:
  ConfigValue(const ConfigValue& parent, const Node& node)
      : reading_(parent.reading_),
        file_(parent.file_),
        node_(&node),
        parent_(&parent),
        secret_(parent.secret_) {}

  void report(Place place, const std::string& text) const;
  bool integer_in(std::int64_t& into, std::int64_t min, std::int64_t max) const;
  void must_be_one_of(const std::vector<std::string_view>& names) const;

  ReadContext* reading_;
  const std::string* file_;
  const Node* node_;
  const ConfigValue* parent_ = nullptr;
  bool secret_ = false;
};

}  // namespace w8y::core
