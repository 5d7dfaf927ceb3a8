// Text that is in memory once and is erased after use.
#include "core/secret.hpp"

#include <doctest/doctest.h>

using namespace w8y;

TEST_CASE("a secret has one copy, which all holders and parts share") {
  const Secret url = "redis://:hidden-in-here@host";
  const Secret same = url;  // NOLINT: the copy is intended
  const Secret password = url.part(9, 14);
  CHECK(password.view() == "hidden-in-here");
  CHECK(password.view().data() == url.view().data() + 9);
  CHECK(same.view().data() == url.view().data());
  CHECK(password == Secret("hidden-in-here"));
  CHECK_FALSE(password == url);
  CHECK(Secret().empty());
  CHECK(url.part(3, 0).empty());
}

TEST_CASE("wiping a string erases its whole capacity") {
  std::string text = "a secret that is longer than fits into the string itself";
  text.resize(20);
  const char* bytes = text.data();
  const std::size_t size = text.capacity();
  wipe(text);
  CHECK(text.empty());
  CHECK(text.capacity() == size);
  CHECK(std::string_view(bytes, size) == std::string(size, '\0'));
}

TEST_CASE("wiping lasts until the outermost Wiping object ends") {
  CHECK_FALSE(Wiping::now());
  {
    const Wiping outer;
    { const Wiping inner; }
    CHECK(Wiping::now());
  }
  CHECK_FALSE(Wiping::now());
}
