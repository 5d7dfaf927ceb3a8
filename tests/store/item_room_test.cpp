// Memory for long items that all lists of a host share.
#include "store/item_room.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using w8y::store::ItemRoom;

namespace item_room_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t any = 1024 * mebibyte;

struct List {
  explicit List(ItemRoom& room) : member(room, [this] { ++told; }) {}
  /// Claims up to `wanted` items of `bytes` bytes each, until the shared memory is used up. Returns
  /// the number of claimed items.
  std::size_t claim(std::size_t bytes, std::size_t wanted = 1000) {
    std::size_t claimed = 0;
    while (claimed < wanted && member.admit(bytes, own_most)) {
      holds.push_back(member.hold(bytes));
      member.answered();
      ++claimed;
    }
    return claimed;
  }

  int told = 0;
  std::size_t own_most = any;
  ItemRoom::Member member;
  std::vector<ItemRoom::Hold> holds;
};

}  // namespace

TEST_CASE("one list can use all memory for long items, and no more") {
  ItemRoom room(64 * mebibyte);
  List one(room);
  CHECK(one.claim(16 * mebibyte) == 4);
  CHECK(room.held() == 64 * mebibyte);
  CHECK(one.told == 0);
  one.holds.pop_back();
  CHECK(one.told == 1);
  CHECK(one.claim(16 * mebibyte) == 1);
}

TEST_CASE("200 lists together hold no more than the limit") {
  constexpr std::size_t count = 200;
  ItemRoom room(64 * mebibyte);
  std::vector<std::unique_ptr<List>> lists;
  std::size_t held = 0;
  for (std::size_t i = 0; i < count; ++i) {
    lists.push_back(std::make_unique<List>(room));
    held += lists.back()->claim(16 * mebibyte);
  }
  CHECK(held == 4);
  CHECK(room.held() == 64 * mebibyte);
  // Each list is served in turn: the list that has waited longest is notified first.
  std::vector<List*> holders{lists[0].get()};
  std::size_t served = 0;
  while (served < count - 1) {
    List* next = nullptr;
    REQUIRE_FALSE(holders.empty());
    holders.front()->holds.pop_back();
    if (holders.front()->holds.empty()) holders.erase(holders.begin());
    for (const auto& list : lists) {
      if (list->told == 0) continue;
      list->told = 0;
      if (list->holds.empty() && list->claim(16 * mebibyte, 1) == 1) {
        next = list.get();
        ++served;
        break;
      }
    }
    REQUIRE(next != nullptr);
    holders.push_back(next);
    CHECK(room.held() <= 64 * mebibyte);
  }
}

TEST_CASE("a second list has its half of the memory as soon as items of the first are settled") {
  ItemRoom room(64 * mebibyte);
  List first(room);
  List second(room);
  CHECK(first.claim(8 * mebibyte) == 8);
  CHECK(second.claim(8 * mebibyte) == 0);
  for (int i = 0; i < 4; ++i) {
    first.holds.pop_back();
    CHECK(second.told > i);
    CHECK(first.claim(8 * mebibyte) == 0);  // it has at least its half
    CHECK(second.claim(8 * mebibyte) == 1);
  }
  first.holds.pop_back();
  CHECK(second.claim(8 * mebibyte) == 0);
  CHECK(first.claim(8 * mebibyte) == 1);
}

TEST_CASE("a list of short items does not wait for the long items of other lists") {
  ItemRoom room(64 * mebibyte);
  List big(room);
  List small(room);
  CHECK(big.claim(16 * mebibyte) == 4);
  CHECK(small.claim(100, 1000) == 1000);
  CHECK(small.told == 0);
}

TEST_CASE("one item is always admitted, even if it exceeds the limit") {
  ItemRoom room(4 * mebibyte);
  List one(room);
  List other(room);
  CHECK(one.claim(16 * mebibyte) == 1);
  CHECK(other.claim(16 * mebibyte) == 0);
  one.holds.clear();
  CHECK(other.told == 1);
  CHECK(other.claim(16 * mebibyte) == 1);
}

TEST_CASE("a list at a limit of its own is notified when one of its items is settled") {
  ItemRoom room(64 * mebibyte);
  List one(room);
  one.own_most = 4 * mebibyte;
  CHECK(one.claim(2 * mebibyte) == 2);
  one.holds.pop_back();
  CHECK(one.told == 1);
  CHECK(one.claim(2 * mebibyte) == 1);
}

TEST_CASE("a list that stops waiting does not block other lists") {
  ItemRoom room(32 * mebibyte);
  List one(room);
  List other(room);
  List third(room);
  CHECK(one.claim(16 * mebibyte) == 2);
  CHECK(other.claim(16 * mebibyte) == 0);
  CHECK(third.claim(16 * mebibyte) == 0);
  one.holds.pop_back();
  CHECK(third.claim(16 * mebibyte) == 0);  // the other list is first
  other.member.leave();
  CHECK(third.claim(16 * mebibyte) == 1);
}

}  // namespace item_room_test
