#include "core/secret.hpp"

#include <string.h>

namespace w8y {

namespace {

thread_local int scopes = 0;

/// Overwrites data that returned functions have left on the stack, to the depth that they usually
/// reach.
[[gnu::noinline]] void wipe_stack() {
  char below[std::size_t{64} << 10];
  explicit_bzero(below, sizeof below);
}

}  // namespace

void wipe(std::string& text) {
  text.resize(text.capacity());
  explicit_bzero(text.data(), text.size());
  text.clear();
}

Wiping::Wiping() {
  ++scopes;
}

Wiping::~Wiping() {
  if (--scopes == 0) wipe_stack();
}

bool Wiping::now() noexcept {
  return scopes > 0;
}

Secret::Secret(std::string_view text) {
  if (text.empty()) return;
  const std::size_t size = text.size();
  char* bytes = new char[size];
  text.copy(bytes, size);
  text_ = {bytes, size};
  owner_ = std::shared_ptr<const char>(bytes, [size](const char* own) {
    explicit_bzero(const_cast<char*>(own), size);
    delete[] own;
  });
}

Secret Secret::part(std::size_t from, std::size_t length) const {
  Secret of;
  of.text_ = text_.substr(from, length);
  if (!of.text_.empty()) of.owner_ = owner_;
  return of;
}

}  // namespace w8y
