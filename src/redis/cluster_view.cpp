#include "redis/cluster_view.hpp"

#include <algorithm>
#include <utility>

#include "redis/jitter.hpp"

namespace w8y::redis {

namespace {

constexpr Duration first_reload_pause = std::chrono::milliseconds(50);
constexpr Duration max_reload_pause = std::chrono::seconds(1);
/// Maximum number of nodes that one refresh queries. If none of them replies, the next refresh
/// queries others.
constexpr std::size_t max_asked = 16;

/// Options with the login and TLS settings of all nodes, without an address.
ClientOptions of_nodes(const ClientOptions& options) {
  ClientOptions of = options;
  of.url = options.url.at(options.url.seeds.front());
  return of;
}

void add_unless_there(std::vector<HostPort>& places, const HostPort& place) {
  if (std::ranges::find(places, place) == places.end()) places.push_back(place);
}

}  // namespace

ClusterView::ClusterView(loop::Loop& loop, const ClientOptions& options, Refreshed refreshed)
    : loop_(loop),
      options_(options),
      refreshed_(std::move(refreshed)),
      timer_(loop.timers()),
      inquiry_(
          loop, of_nodes(options), cluster_questions(),
          [this](const HostPort& asked, const std::vector<ReplyCopy>& answers) {
            return classify(asked, answers);
          },
          [this](const std::string& problem) { finish(problem); }) {}

void ClusterView::refresh() {
  if (inquiry_.under_way()) {
    again_ = true;
  } else if (!timer_.pending()) {
    const Instant now = loop_.now();
    if (now - last_ > 2 * max_reload_pause) pause_ = {};
    const Instant at = pause_ == Duration{} ? now : std::max(now, last_ + jittered(pause_));
    pause_ = pause_ == Duration{} ? first_reload_pause : std::min(pause_ * 2, max_reload_pause);
    timer_.set(at, [this] { refresh_now(); });
  }
}

void ClusterView::refresh_now() {
  if (inquiry_.under_way()) return;
  timer_.cancel();
  again_ = false;
  inquiry_.begin(candidates());
}

void ClusterView::reachable(const HostPort& node, bool is) {
  if (is) {
    unreachable_.erase(node);
  } else {
    unreachable_.insert(node);
  }
}

std::vector<HostPort> ClusterView::candidates() const {
  std::vector<HostPort> places;
  for (const auto* some : {&replied_, &map_.nodes(), &options_.url.seeds})
    for (const HostPort& place : *some) add_unless_there(places, place);
  std::stable_partition(places.begin(), places.end(),
                        [this](const auto& place) { return !unreachable_.contains(place); });
  if (places.size() > max_asked) {
    // The seeds of the URL are always kept: all learned nodes may be unavailable.
    std::vector<HostPort> kept(places.begin(), places.begin() + max_asked);
    for (const HostPort& seed : options_.url.seeds) add_unless_there(kept, seed);
    places = std::move(kept);
  }
  return places;
}

std::string ClusterView::classify(const HostPort& asked, const std::vector<ReplyCopy>& answers) {
  const std::string problem = read_cluster(asked, answers, map_);
  if (!problem.empty()) return options_.url.at(asked).to_string() + ": " + problem;
  known_ = true;
  replied_ = {asked};
  // Nodes that have left the cluster are removed.
  std::erase_if(unreachable_, [this](const HostPort& node) {
    return std::ranges::find(map_.nodes(), node) == map_.nodes().end();
  });
  return {};
}

void ClusterView::finish(const std::string& problem) {
  last_ = loop_.now();
  refreshed_(problem);
  if (again_) refresh();
}

ClusterDiscovery::ClusterDiscovery(loop::Loop& loop, const ClientOptions& options)
    : options_(options),
      inquiry_(
          loop, of_nodes(options), cluster_questions(),
          [this](const HostPort& asked, const std::vector<ReplyCopy>& answers) {
            const std::string problem = read_cluster(asked, answers, map_);
            if (!problem.empty()) return options_.url.at(asked).to_string() + ": " + problem;
            healthy_ = asked;
            return problem;
          },
          [this](const std::string& problem) {
            const Found found = std::exchange(found_, {});
            if (!problem.empty()) return found(nullptr, problem);
            const Url place = options_.url.at(healthy_);
            found(&place, {});
          }) {}

void ClusterDiscovery::find(Found found) {
  found_ = std::move(found);
  std::vector<HostPort> places = options_.url.seeds;
  for (const HostPort& node : map_.nodes()) add_unless_there(places, node);
  const auto turn = static_cast<std::ptrdiff_t>(turn_++ % places.size());
  std::rotate(places.begin(), places.begin() + turn, places.end());
  inquiry_.begin(std::move(places));
}

}  // namespace w8y::redis
