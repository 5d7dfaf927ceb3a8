// Reads single values of the config. Each reader stores a valid value, or reports an error and the
// valid values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/config.hpp"
#include "core/config_tree.hpp"

namespace w8y::core {

/// State shared by all values of one reading of the config.
struct ReadContext {
  ConfigHost& host;
  bool root = false;  ///< files that others can write are rejected
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

/// A node and its parents. Values live on the stack during reading, because each refers to its
/// parent.
class ConfigValue {
 public:
  ConfigValue(ReadContext& reading, const std::string& file, const Node& root)
      : reading_(&reading), file_(&file), node_(&root) {}
  /// Returns the value of a member of a table.
  [[nodiscard]] ConfigValue member(const Node& node) const { return ConfigValue(*this, node); }

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::string& file() const { return *file_; }
  [[nodiscard]] ReadContext& reading() const { return *reading_; }
  /// Returns the path of the key: "lists.work.concurrency".
  [[nodiscard]] std::string path() const;
  /// Returns the value as shown in errors; for a secret only its type.
  [[nodiscard]] std::string found() const;
  void keep_secret() { secret_ = true; }

  void wrong(const std::string& text) const { report(node_->place, text); }
  void wrong_key(const std::string& text) const { report(node_->key_place, text); }
  /// Reports "is 3; must be …".
  void must_be(const std::string& text) const { wrong("is " + found() + "; must be " + text); }
  void warn(const std::string& text) const;

  // Readers. After an error, `into` is unchanged and the result is false.
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
  /// Reads a text that is not empty and has no NUL: the kernel accepts no such text.
  bool text(std::string& into, const std::string& what) const;
  /// Reads an absolute path. No path is relative to the working directory.
  bool path(std::string& into) const;
  /// Reads an absolute path to a file. As root, checks that root can rely on the file. A file that
  /// only runs read may be missing: the config is the same on all hosts, and a host without the
  /// file is ineligible for the list.
  enum class IfMissing { error, refused_later };
  bool trusted_path(std::string& into, IfMissing if_missing = IfMissing::error) const;
  /// The same for a file that holds a secret. Warns if every user can read it.
  bool secret_path(std::string& into) const;
  /// Warns if every user can read the file at `path`, which holds a secret.
  void warn_if_exposed(const std::string& path) const;
  /// Reads an array of texts. `may_be_empty` applies to each text.
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
