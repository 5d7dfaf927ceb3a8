// GET /api/v1/lists/{prefix}/ring: one query for all clients.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/query_runner.hpp"
#include "api/shared_response.hpp"
#include "http/http.hpp"
#include "loop/loop.hpp"
#include "operator/ring.hpp"

namespace w8y::api {

/// Cache of the responses for the ring of the page.
class RingEndpoint {
 public:
  RingEndpoint(loop::Loop& loop, QueryRunner& queries) : loop_(loop), queries_(queries) {}
  /// Adds the endpoint to `router`. This object must outlive `router`.
  void add_to(http::Router& router);

 private:
  struct Ring {
    explicit Ring(loop::Loop& loop) : shared(loop) {}
    verbs::RingRotation turn;  ///< used by the query thread while a query is in flight
    SharedResponse shared;
  };
  using RingPtr = std::shared_ptr<Ring>;

  void query(const http::HttpRequest& request, const http::HttpReplyPtr& reply);
  void read(const std::string& prefix, std::size_t most, const RingPtr& ring, bool trusted);
  void forget_old();

  loop::Loop& loop_;
  QueryRunner& queries_;
  std::map<std::string, RingPtr> rings_;  ///< by prefix and number of items
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::api
