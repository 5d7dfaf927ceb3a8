#include "http/client_pool.hpp"

#include <utility>

namespace w8y::http {

bool ClientPool::fits(bool trusted, std::size_t units) const {
  if (held(true) + held(false) + units > limit_) return false;
  return trusted || held(false) + units <= limit_ / 2;
}

ClientPool::Hold::Hold(ClientPool& pool, bool trusted, std::size_t units)
    : pool_(&pool), trusted_(trusted), units_(units) {
  pool.held_[trusted ? 1 : 0] += units;
}

ClientPool::Hold::Hold(Hold&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), trusted_(other.trusted_), units_(other.units_) {}

ClientPool::Hold& ClientPool::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release();
  pool_ = std::exchange(other.pool_, nullptr);
  trusted_ = other.trusted_;
  units_ = other.units_;
  return *this;
}

void ClientPool::Hold::release() {
  if (pool_ != nullptr) pool_->held_[trusted_ ? 1 : 0] -= units_;
  pool_ = nullptr;
}

}  // namespace w8y::http
