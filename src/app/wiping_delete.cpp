// `new` and `delete` of w8yd: the usual ones, except that `delete` overwrites freed memory while
// secrets are read (core/secret.hpp).
#include <malloc.h>
#include <string.h>

#include <cstdlib>
#include <new>

#include "core/secret.hpp"

namespace {

void* take(std::size_t size) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}

void give_back(void* memory) noexcept {
  if (memory != nullptr && w8y::Wiping::now()) explicit_bzero(memory, malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = take(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  give_back(memory);
}
