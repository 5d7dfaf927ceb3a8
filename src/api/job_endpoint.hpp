// GET /api/v1/feeds/{feed}/jobs/{id}: one job, and waiting for its end.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "api/query_runner.hpp"
#include "core/timers.hpp"
#include "http/http.hpp"
#include "loop/loop.hpp"

namespace w8y::api {

/// Shows jobs. A client with ?wait= receives its response when the job is finished or stalled. All
/// waiting clients share one query, with two commands of constant cost for each client. The longer
/// a client has waited, the more rarely its job is examined.
class JobEndpoint {
 public:
  JobEndpoint(loop::Loop& loop, QueryRunner& queries)
      : loop_(loop), queries_(queries), next_(loop.timers()) {}
  /// Adds the endpoint to `router`. This object must outlive `router`.
  void add_to(http::Router& router);

 private:
  struct Wait {
    std::string feed;
    std::string id;
    http::HttpReplyPtr reply;
    Instant end{};  ///< latest time of the response
    Duration pause{};
    Instant due{};  ///< time of the next examination
  };
  using WaitPtr = std::shared_ptr<Wait>;
  struct Examined {
    std::vector<WaitPtr> waits;
    std::vector<bool> ended;  ///< for each wait, whether its job is finished, stalled or missing
  };

  void query(const http::HttpRequest& request, const http::HttpReplyPtr& reply);
  void show(WaitPtr wait);
  void examine();
  void handle_examined(const Examined& examined, bool is_known);
  void arm();

  loop::Loop& loop_;
  QueryRunner& queries_;
  std::list<WaitPtr> waits_;
  Timer next_;
  bool out_ = false;  ///< whether a query examines jobs
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::api
