#include "store/circular/list_pass.hpp"

#include <algorithm>

namespace w8y::store {

namespace {

/// Number of items from which the mark is chosen: some may be items that the caller removes.
constexpr std::int64_t mark_searched = 64;

}  // namespace

std::optional<ListPass::Part> ListPass::next() const {
  if (is_over_) return std::nullopt;
  const std::int64_t fingerprints = reads_moved_ ? count_ : mark_.empty() ? mark_searched : 0;
  if (end_ <= 0) return Part{-count_, count_, fingerprints, reads_moved_};
  const std::int64_t first = std::max<std::int64_t>(0, end_ - count_);
  return Part{first, end_ - first, fingerprints, reads_moved_};
}

bool ListPass::finds_mark(const std::vector<std::string>& fingerprints) const {
  return !mark_.empty() && std::search(fingerprints.begin(), fingerprints.end(), mark_.begin(),
                                       mark_.end()) != fingerprints.end();
}

void ListPass::take(const Reply& reply) {
  if (!reply.whole) {
    // The items are long. Reads up to the same end again: as many items as were within the limit,
    // or the items after the item that reached the limit.
    const std::int64_t behind = next()->count - reply.read;
    count_ = std::max<std::int64_t>(1, std::min(reply.read, behind));
    whole_parts_ = 0;
    return;
  }
  if (mark_.empty() && std::ssize(reply.fingerprints) >= mark_length && !reads_moved_)
    mark_.assign(reply.fingerprints.begin(), reply.fingerprints.begin() + mark_length);
  const bool whole_list = end_ <= 0 && reply.first == 0;
  end_ = reply.first;
  if (!reads_moved_) {
    is_over_ = whole_list;
    reads_moved_ = end_ == 0;
    grow(longest_part);
    return;
  }
  // The mark may be on both sides of the boundary.
  const std::int64_t again =
      mark_.empty() ? 0 : std::clamp<std::int64_t>(reply.read - 1, 0, mark_length);
  is_over_ = end_ == 0 || finds_mark(reply.fingerprints);
  if (!is_over_) end_ += again;
  grow(moved_part);
}

/// If items are long, a part that is twice as large would most likely be too large.
void ListPass::grow(std::int64_t most) {
  if (++whole_parts_ % parts_before_growth == 0) count_ *= 2;
  count_ = std::min(count_, reads_moved_ ? moved_part : most);
}

}  // namespace w8y::store
