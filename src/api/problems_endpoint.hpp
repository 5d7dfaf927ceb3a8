// GET /api/v1/problems: problems of this host and of the fleet, one query for all clients.
#pragma once

#include <memory>
#include <vector>

#include "api/control.hpp"
#include "api/query_runner.hpp"
#include "api/shared_response.hpp"
#include "http/http.hpp"
#include "loop/loop.hpp"
#include "view/problems.hpp"

namespace w8y::api {

/// Response with the problems that `w8yctl status` shows.
class ProblemsEndpoint {
 public:
  ProblemsEndpoint(loop::Loop& loop, QueryRunner& queries, Control& control)
      : queries_(queries), control_(control), shared_(loop) {}
  /// Adds the endpoint to `router`. This object must outlive `router`.
  void add_to(http::Router& router);

 private:
  /// Collects the problems of this host, then those of the fleet.
  void read(bool trusted);
  void read_fleet(std::vector<Problem>&& own, bool trusted);

  QueryRunner& queries_;
  Control& control_;
  SharedResponse shared_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::api
