#include "core/optional_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace w8y {

namespace {

void* checked(void* found, const std::string& name) {
  if (found != nullptr) return found;
  const char* why = dlerror();
  throw std::runtime_error(why != nullptr ? why : name);
}

}  // namespace

OptionalLibrary::OptionalLibrary(const char* name)
    : name_(name), library_(checked(dlopen(name, RTLD_NOW | RTLD_LOCAL), name_)) {}

void* OptionalLibrary::address_of(const char* name) const {
  return checked(dlsym(library_, name), name_);
}

}  // namespace w8y
