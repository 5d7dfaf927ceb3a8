// Shared libraries that a program loads when it first needs them.
#pragma once

#include <string>

namespace w8y {

/// A shared library that is never unloaded. The constructor and find() throw std::runtime_error
/// with the reason of the dynamic loader.
class OptionalLibrary {
 public:
  /// `name`: file name of the library, as for dlopen(3).
  explicit OptionalLibrary(const char* name);

  /// Sets `function` to the address of the function called `name`.
  template <typename Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  [[nodiscard]] void* address_of(const char* name) const;

  std::string name_;
  void* library_;
};

}  // namespace w8y
