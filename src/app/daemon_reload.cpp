// Reload: parse and check everything; try a changed connection; probe, compare, apply. Until the
// last step the running configuration stays whole.
#include <algorithm>
#include <utility>

#include "app/config_loading.hpp"
#include "app/daemon.hpp"
#include "loop/background.hpp"

namespace w8y::app {

namespace {

/// What a connection is made of; `idle_commands` is only a budget.
bool same_connection(const Config& a, const Config& b) {
  RedisSettings left = a.redis;
  left.idle_commands = b.redis.idle_commands;
  return left == b.redis && a.supervisor.host == b.supervisor.host;
}

}  // namespace

void Daemon::reload(Answer answer) {
  using Kind = ops::ControlResult::Kind;
  if (draining_ || options_.config_path == "-") {
    const char* why = draining_ ? "this host is draining"
                                : "the config came from standard input: there is no file to read";
    events_.on_event(ReloadRefused{why});
    if (answer) answer({Kind::refused, why, {}, {}});
    return;
  }
  // One that arrives during a reload is done once more after it.
  if (reload_ || swap_.pending() || supervisor_.reloading()) {
    reload_again_ = true;
    if (answer) reload_again_answers_.push_back(std::move(answer));
    return;
  }
  if (answer) reload_answers_.push_back(std::move(answer));
  begin_reload();
}

void Daemon::begin_reload() {
  notify_.reloading();
  events_.on_event(ReloadBegun{options_.config_path});
  reload_ = std::make_shared<Reload>();
  reload_->running = supervisor_.shared_config();
  // A file of ten thousand lists takes long to read: not on the loop.
  const auto reading = std::make_shared<LoadResult>();
  const auto read = [reading, path = options_.config_path, running = reload_->running] {
    *reading = read_beside(path, *running);
  };
  const auto then = [this, reading, waited = std::weak_ptr<Reload>(reload_)] {
    if (waited.expired()) return;  // it drains meanwhile, or is gone
    was_read(std::move(*reading));
  };
  if (loop::in_background(loop_, read, then)) return;
  read();
  then();
}

void Daemon::was_read(LoadResult&& reading) {
  // Into the memory of this thread: what the other one took for the config is between what it took
  // for reading, and is all given back when this is gone.
  if (reading.config) {
    reload_->config = std::make_shared<const Config>(*reading.config);
    let_go(std::move(reading.config));
  }
  if (!reload_->config) {
    reload_failed("the config has mistakes; nothing was changed", std::move(reading.mistakes));
  } else if (same_connection(*reload_->running, *reload_->config)) {
    apply_reload();
  } else {
    try_new_link();
  }
}

/// A changed connection is opened first, and taken when it works.
void Daemon::try_new_link() {
  const auto gave_up = [this](std::string why) {
    // Not inside the new connection's own call: it goes with the reload.
    swap_.set(loop_.now(), [this, why = std::move(why)] {
      reload_failed("the new Redis can't be used (" + why + "); nothing was changed", {});
    });
  };
  reload_->link = open_link(*reload_->config, [this, gave_up](RedisState state) {
    if (!reload_ || swap_.pending()) return;
    switch (state) {
      case RedisState::usable:
        swap_.set(loop_.now(), [this] { apply_reload(); });
        break;
      case RedisState::too_old:
        gave_up("it is too old");
        break;
      case RedisState::down:
        gave_up(reload_->link ? reload_->link->redis->client.trouble() : "not reachable");
    }
  });
  reload_->patience = std::make_unique<Timer>(loop_.timers());
  reload_->patience->set(
      loop_.now() + reload_->config->redis.connect_timeout + reload_->config->redis.command_timeout,
      [gave_up] { gave_up("no answer"); });
}

/// What the new config asks of this host: what can't be had makes the reload fail while nothing has
/// changed yet. Returns why. The log file comes last: nothing may fail after it.
std::string Daemon::prepare_host() {
  const SupervisorSettings& running = reload_->running->supervisor;
  const SupervisorSettings& wanted = reload_->config->supervisor;
  for (const auto& address : wanted.status) {
    if (servers_.contains(address)) continue;
    try {
      reload_->servers[address] = serve_at(address);
    } catch (const std::exception& error) {
      reload_->servers.erase(address);
      const bool is_new =
          std::find(running.status.begin(), running.status.end(), address) == running.status.end();
      if (is_new) return "the status address " + address + " can't be had: " + error.what();
      // Nothing about it has changed: it could not be had before.
      log_.error("can't serve the status API at this address",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
  const std::string problem = log_.prepare({wanted.log_level, wanted.log_format, wanted.log_file});
  if (problem.empty()) return {};
  return "log_file " + wanted.log_file + " can't be opened: " + problem;
}

void Daemon::take_servers() {
  const auto& wanted = supervisor_.config().supervisor.status;
  std::erase_if(servers_, [&](const auto& server) {
    return std::find(wanted.begin(), wanted.end(), server.first) == wanted.end();
  });
  servers_.merge(reload_->servers);
}

void Daemon::apply_reload() {
  if (const std::string problem = prepare_host(); !problem.empty())
    return reload_failed(problem + "; nothing was changed", {});
  const bool new_link = reload_->link != nullptr;
  reload_->patience.reset();
  if (new_link) {
    host_ = reload_->config->supervisor.host;
    // Pollers that still run on the old connection keep it until they have settled.
    link_->redis->retire(
        [this, url = link_->url.to_string()](const std::string& list, std::size_t runs) {
          events_.on_event(EndsDropped{url, list, runs});
        });
    link_ = std::move(reload_->link);
    link_->watch->tell([this](RedisState state) { redis_changed(state); });
    redis_changed(RedisState::usable);
  }
  for (const auto& warning : reload_->config->warnings) log_.warn(warning);
  prepare_limits(*reload_->config);
  supervisor_.apply(reload_->config, new_link, [this](const ReloadPlan& plan) { reloaded(plan); });
}

void Daemon::reloaded(const ReloadPlan& plan) {
  use_log_settings(supervisor_.config().supervisor);
  take_servers();
  say_shortfalls();
  std::vector<std::string> lines = plan.lines();
  last_reload_failed_ = false;
  last_reload_ = lines.empty()       ? "nothing has changed"
                 : lines.size() == 1 ? "1 change"
                                     : std::to_string(lines.size()) + " changes";
  events_.on_event(
      Reloaded{true, supervisor_.generation(), last_reload_, &lines, supervisor_.config_hash()});
  answer_reload(
      {ops::ControlResult::Kind::done, "reloaded: " + last_reload_, std::move(lines), {}});
}

void Daemon::reload_failed(const std::string& text, std::vector<std::string> lines) {
  last_reload_ = "failed: " + text;
  last_reload_failed_ = true;
  events_.on_event(Reloaded{false, supervisor_.generation(), text, &lines, {}});
  answer_reload({ops::ControlResult::Kind::invalid, text, std::move(lines), {}});
}

void Daemon::answer_reload(const ops::ControlResult& result) {
  // The one that is not in force is large if there are many lists.
  const bool taken = supervisor_.shared_config() == reload_->config;
  ConfigPtr gone = std::exchange(taken ? reload_->running : reload_->config, nullptr);
  reload_.reset();
  let_go(std::move(gone));
  last_reload_at_ = loop_.clock().wall();
  if (ready_) notify_.ready(last_reload_);
  const auto answers = std::exchange(reload_answers_, {});
  for (const auto& answer : answers) answer(result);
  reload_once_more();
}

/// A host that drains takes no other config.
void Daemon::end_reload() {
  reload_.reset();
  reload_again_ = false;
  auto answers = std::exchange(reload_answers_, {});
  for (auto& answer : std::exchange(reload_again_answers_, {}))
    answers.push_back(std::move(answer));
  for (const auto& answer : answers)
    answer(
        {ops::ControlResult::Kind::refused, "this host is draining; nothing was changed", {}, {}});
}

/// With ten thousand lists, freeing them takes some time too.
void Daemon::let_go(ConfigPtr config) {
  loop::in_background(loop_, [gone = std::move(config)]() mutable { discard(std::move(gone)); });
}

void Daemon::reload_once_more() {
  if (!std::exchange(reload_again_, false)) return;
  reload_answers_ = std::exchange(reload_again_answers_, {});
  // From the loop: we may be inside the supervisor's own call.
  swap_.set(loop_.now(), [this] { begin_reload(); });
}

}  // namespace w8y::app
