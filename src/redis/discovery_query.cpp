#include "redis/discovery_query.hpp"

#include <algorithm>
#include <utility>

namespace w8y::redis {

namespace {

/// Minimum time for each server, regardless of their number. A working server replies well within
/// it.
constexpr Duration min_share = std::chrono::milliseconds(100);
/// The last share of connect_timeout is for connecting to the server found.
constexpr int spare_shares = 1;

}  // namespace

DiscoveryQuery::DiscoveryQuery(loop::Loop& loop, ClientOptions options, Questions questions,
                               Judge judge, Over over)
    : loop_(loop),
      options_(std::move(options)),
      questions_(std::move(questions)),
      classify_(std::move(judge)),
      done_(std::move(over)),
      timer_(loop.timers()),
      sweep_(loop, [this] { dead_.clear(); }) {}

void DiscoveryQuery::begin(std::vector<HostPort> places) {
  cancel();
  places_ = std::move(places);
  next_ = 0;
  under_way_ = true;
  query_next();
}

void DiscoveryQuery::cancel() {
  under_way_ = false;
  timer_.cancel();
  close();
}

void DiscoveryQuery::query_next() {
  ClientOptions options = options_;
  options.url = options_.url.at(places_[next_++]);
  const auto shares = static_cast<Duration::rep>(places_.size()) + spare_shares;
  options.connect_timeout = std::max(min_share, options_.connect_timeout / shares);
  replies_.clear();
  Secret password;
  if (const std::string problem = read_password(options, password); !problem.empty()) {
    timer_.set(loop_.now(), [this, problem] { failed(problem); });
    return;
  }
  connection_ = std::make_unique<Connection>(loop_, options, password, Connection::Wanted::any,
                                             static_cast<Connection::Handler&>(*this),
                                             static_cast<Connection::ReplyHandler&>(*this));
  connection_->connect(options.url);
  for (const auto& question : questions_)
    append_command(connection_->output(), Command(question.begin(), question.end()));
  timer_.set(loop_.now() + options.connect_timeout, [this, where = options.url.to_string()] {
    close();
    failed(where + ": no reply in time");
  });
}

void DiscoveryQuery::on_reply(const Reply& reply) {
  if (!connection_) return;  // cancelled
  replies_.emplace_back(reply);
  if (replies_.size() < questions_.size()) return;
  const HostPort asked = places_[next_ - 1];
  close();
  const std::string problem = classify_(asked, replies_);
  if (problem.empty()) {
    end({});
  } else {
    failed(problem);
  }
}

void DiscoveryQuery::on_end(const Connection::End& end) {
  if (!connection_) return;
  close();
  failed(end.why);
}

void DiscoveryQuery::failed(const std::string& problem) {
  timer_.cancel();
  if (next_ < places_.size()) {
    query_next();
  } else {
    end(problem);
  }
}

void DiscoveryQuery::close() {
  if (!connection_) return;
  dead_.push_back(std::move(connection_));
  dead_.back()->drop("not needed any more");
}

void DiscoveryQuery::end(const std::string& problem) {
  timer_.cancel();
  under_way_ = false;
  done_(problem);
}

}  // namespace w8y::redis
