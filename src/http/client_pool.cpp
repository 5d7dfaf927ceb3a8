#include "http/client_pool.hpp"

namespace w8y::http {

bool ClientPool::fits(bool trusted, std::size_t units) const {
  if (held(true) + held(false) + units > limit_) return false;
  return trusted || held(false) + units <= limit_ / 2;
}

ClientPool::Hold ClientPool::hold(bool trusted, std::size_t units) {
  std::size_t& held = held_[trusted ? 1 : 0];
  held += units;
  return {&held, Release{units}};
}

}  // namespace w8y::http
