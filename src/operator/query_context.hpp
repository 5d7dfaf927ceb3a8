// What a look at Redis has, for an answer of the status API.
#pragma once

#include <stdexcept>
#include <string>

#include "core/rule.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

/// On the thread of the QueryRunner: what else is of w8yd is not to be touched.
struct QueryContext {
  redis::SyncClient& redis;
  const redis::ClientOptions& reach;  ///< how Redis is reached
  const Config& config;               ///< in force when it was asked

  [[nodiscard]] bool cluster() const { return reach.url.kind == redis::Url::Kind::cluster; }
};

/// Ends a look: the answer is an error with this status of HTTP, and a sentence.
class Refusal : public std::runtime_error {
 public:
  Refusal(unsigned status, const std::string& what) : std::runtime_error(what), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

}  // namespace w8y::verbs
