// Memory for what comes and goes with work, and is not there at rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define W8Y_LOOKS_AT_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define W8Y_LOOKS_AT_MEMORY
#endif
#endif

namespace w8y {

/// A base of such a type, which says how it is made by `new`: all of one type stand together. Made
/// among what stays, each would leave a hole when it goes, and what is made next takes a bit of it:
/// ten thousand lists that had each looked once into Redis had a fifth of their memory in holes.
/// Belongs to the thread that makes it. Where a sanitizer looks for what is used after its end,
/// each is made by itself.
template <typename T>
class Brief {
#if !defined(W8Y_LOOKS_AT_MEMORY)
 public:
  static void* operator new(std::size_t size) {
    Pool& here = pool();
    void* made = here.memory.allocate(size);
    here.most = std::max(here.most, ++here.there);
    return made;
  }
  static void operator delete(void* made, std::size_t size) noexcept {
    Pool& here = pool();
    here.memory.deallocate(made, size);
    // What a few need is kept, for a list that works now and then.
    if (--here.there > 0 || here.most <= few) return;
    here.memory.release();
    here.most = 0;
  }

 private:
  static constexpr std::size_t few = 64;
  struct Pool {
    std::pmr::unsynchronized_pool_resource memory{{few, sizeof(T)}};
    std::size_t there = 0;
    std::size_t most = 0;  ///< at once, since all memory was given back
  };
  static Pool& pool() {
    thread_local Pool of_thread;
    return of_thread;
  }
#endif

 protected:
  ~Brief() = default;
};

}  // namespace w8y
