#include "redis/sentinel.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::redis {

namespace {

constexpr Duration soon = std::chrono::seconds(10);

constexpr std::size_t max_sentinels = 64;

ClientOptions of_sentinels(const ClientOptions& options) {
  ClientOptions of = options;
  of.url = options.url.at(options.url.seeds.front());
  of.url.user.clear();
  of.url.password = {};
  of.url.db = 0;
  of.password_file = options.sentinel_password_file;
  return of;
}

DiscoveryQuery::Questions questions_about(const std::string& service) {
  return {{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service}, {"SENTINEL", "SENTINELS", service}};
}

std::optional<HostPort> place_of(std::string_view host, std::string_view port) {
  HostPort place;
  place.host = host;
  const char* end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, place.port);
  if (host.empty() || stop != end || error != std::errc{} || place.port == 0) return std::nullopt;
  return place;
}

/// "name", value, "name", value, …
std::string_view field(const ReplyCopy& fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.elements.size(); i += 2)
    if (fields.elements[i].text == name) return fields.elements[i + 1].text;
  return {};
}

std::string_view next_word(std::string_view& text) {
  const auto space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

}  // namespace

/// Discovery for the subscription: uses another Sentinel at each attempt.
class SentinelDiscovery::Rotation final : public Discovery {
 public:
  explicit Rotation(SentinelDiscovery& owner) : owner_(owner), timer_(owner.loop_.timers()) {}

  void find(Found found) override {
    timer_.set(owner_.loop_.now(), [this, found = std::move(found)] {
      const auto& sentinels = owner_.sentinels_;
      owner_.watched_ = sentinels[next_++ % sentinels.size()];
      const Url place = owner_.sentinel_options_.url.at(owner_.watched_);
      found(&place, {});
    });
  }
  void cancel() override { timer_.cancel(); }
  void watch(Moved) override {}

 private:
  SentinelDiscovery& owner_;
  std::size_t next_ = 0;
  Timer timer_;
};

SentinelDiscovery::SentinelDiscovery(loop::Loop& loop, const ClientOptions& options)
    : loop_(loop),
      options_(options),
      sentinel_options_(of_sentinels(options)),
      sentinels_(options.url.seeds),
      inquiry_(
          loop, sentinel_options_, questions_about(options.url.service),
          [this](const HostPort& asked, const std::vector<ReplyCopy>& answers) {
            return classify(asked, answers);
          },
          [this](const std::string& problem) {
            const Found found = std::exchange(found_, {});
            if (!problem.empty()) return found(nullptr, problem_text(problem));
            const Url place = options_.url.at(*primary_);
            updated_at_ = loop_.now();
            found(&place, {});
          }),
      requery_(
          loop, sentinel_options_, questions_about(options.url.service),
          [this](const HostPort& asked, const std::vector<ReplyCopy>& answers) {
            return classify(asked, answers);
          },
          [this](const std::string& problem) {
            if (problem.empty()) moved_(*primary_);
          }) {}

SentinelDiscovery::~SentinelDiscovery() = default;

void SentinelDiscovery::find(Found found) {
  found_ = std::move(found);
  unknown_ = false;
  // A search within `soon` of the last one means that its result was useless: a Sentinel that is
  // isolated from the others still reports a primary that has failed.
  if (updated_at_ && loop_.now() - *updated_at_ < soon)
    std::rotate(sentinels_.begin(), sentinels_.begin() + 1, sentinels_.end());
  inquiry_.begin(sentinels_);
}

void SentinelDiscovery::cancel() {
  inquiry_.cancel();
}

std::string SentinelDiscovery::problem_text(const std::string& problem) const {
  if (unknown_)
    return "no Sentinel monitors the service '" + options_.url.service +
           "'; correct the name in the URL";
  return "no Sentinel can be queried: " + problem;
}

std::string SentinelDiscovery::classify(const HostPort& asked,
                                        const std::vector<ReplyCopy>& answers) {
  const ReplyCopy& address = answers.front();
  const std::string where = sentinel_options_.url.at(asked).to_string();
  if (address.is_error()) return where + ": " + address.text;
  if (address.is_nil()) {
    unknown_ = true;
    return where + ": does not monitor the service";
  }
  const auto place = address.elements.size() == 2
                         ? place_of(address.elements[0].text, address.elements[1].text)
                         : std::nullopt;
  if (!place) return where + ": its reply is not that of a Sentinel; check the port";
  primary_ = place;
  learn(asked, answers.back());
  return {};
}

/// Removes Sentinels that the queried one does not know, except those of the URL.
void SentinelDiscovery::learn(const HostPort& asked, const ReplyCopy& others) {
  std::vector<HostPort> known{asked};
  const auto add = [&known](const HostPort& place) {
    if (known.size() < max_sentinels && std::ranges::find(known, place) == known.end())
      known.push_back(place);
  };
  for (const ReplyCopy& other : others.elements)
    if (const auto place = place_of(field(other, "ip"), field(other, "port"))) add(*place);
  for (const HostPort& seed : options_.url.seeds) add(seed);
  sentinels_ = std::move(known);
}

void SentinelDiscovery::prefer(const HostPort& sentinel) {
  const auto found = std::ranges::find(sentinels_, sentinel);
  if (found != sentinels_.end()) std::rotate(sentinels_.begin(), found, found + 1);
}

void SentinelDiscovery::watch(Moved moved) {
  moved_ = std::move(moved);
  if (watch_) return;
  watch_ =
      std::make_unique<Subscriber>(loop_, sentinel_options_, std::make_unique<Rotation>(*this));
  switches_ = watch_->subscribe(
      "+switch-master", [this](std::string_view, std::string_view payload) { on_switch(payload); },
      // A message may have been missed during the interruption.
      [this] {
        prefer(watched_);
        requery_.begin(sentinels_);
      });
}

/// "<service> <old host> <old port> <new host> <new port>"
void SentinelDiscovery::on_switch(std::string_view payload) {
  if (next_word(payload) != options_.url.service) return;
  next_word(payload);
  next_word(payload);
  const std::string_view host = next_word(payload);
  const auto place = place_of(host, next_word(payload));
  if (!place) return;
  primary_ = place;
  prefer(watched_);  // other Sentinels may receive the change later
  moved_(*place);
}

}  // namespace w8y::redis
