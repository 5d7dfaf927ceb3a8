// Text that must not lie about: one copy, and none after it.
#include "core/secret.hpp"

#include <doctest/doctest.h>

using namespace w8y;

TEST_CASE("a secret has one copy, whoever holds it, and its parts are parts of that") {
  const Secret url = "redis://:hidden-in-here@host";
  const Secret same = url;  // NOLINT: that it is a copy is the point
  const Secret password = url.part(9, 14);
  CHECK(password.view() == "hidden-in-here");
  CHECK(password.view().data() == url.view().data() + 9);
  CHECK(same.view().data() == url.view().data());
  CHECK(password == Secret("hidden-in-here"));
  CHECK_FALSE(password == url);
  CHECK(Secret().empty());
  CHECK(url.part(3, 0).empty());
}

TEST_CASE("what is wiped has nothing of it left, behind its end neither") {
  std::string text = "a secret that is longer than fits into the string itself";
  text.resize(20);
  const char* bytes = text.data();
  const std::size_t size = text.capacity();
  wipe(text);
  CHECK(text.empty());
  CHECK(text.capacity() == size);
  CHECK(std::string_view(bytes, size) == std::string(size, '\0'));
}

TEST_CASE("wiping lasts as long as the outermost that asked for it") {
  CHECK_FALSE(Wiping::now());
  {
    const Wiping outer;
    { const Wiping inner; }
    CHECK(Wiping::now());
  }
  CHECK_FALSE(Wiping::now());
}
