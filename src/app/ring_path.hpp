// GET /api/v1/lists/{prefix}/ring: one look for all who ask, and none again before it has been paid
// for by a pause.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/query_runner.hpp"
#include "loop/loop.hpp"
#include "operator/ring.hpp"
#include "ops/http.hpp"

namespace w8y::app {

class RingPath {
 public:
  RingPath(loop::Loop& loop, QueryRunner& queries) : loop_(loop), queries_(queries) {}
  /// Adds it to `router`, which this outlives.
  void add_to(ops::Router& router);

 private:
  struct Ring {
    verbs::RingRotation turn;  ///< while a look is out, it belongs to that
    ops::HttpResponse answer;
    Instant good_until{};
    Instant asked{};
    bool out = false;
    std::vector<ops::HttpReplyPtr> waiting;
  };
  using RingPtr = std::shared_ptr<Ring>;

  void ask(const ops::HttpRequest& request, const ops::HttpReplyPtr& reply);
  void look(const std::string& prefix, std::size_t most, const RingPtr& ring, bool trusted);
  void take(const RingPtr& ring, ops::HttpResponse answer);
  void forget_old();

  loop::Loop& loop_;
  QueryRunner& queries_;
  std::map<std::string, RingPtr> rings_;  ///< by prefix and how many items
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
