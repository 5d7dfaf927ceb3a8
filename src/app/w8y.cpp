// w8y: runs one command on the next free item of one list. It uses one Poller with a budget of one
// item, and the child inherits the standard streams.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "app/w8y_log.hpp"
#include "app/w8y_options.hpp"
#include "app/w8y_tls.hpp"
#include "core/circular_settings.hpp"
#include "core/escape.hpp"
#include "core/poller.hpp"
#include "executor/attached.hpp"
#include "loop/loop.hpp"
#include "process/find_program.hpp"
#include "process/pid_namespace.hpp"
#include "redis/hash_slots.hpp"
#include "redis/tls_environment.hpp"
#include "redis/url.hpp"
#include "source/circular/circular_factory.hpp"
#include "store/circular/redis_list.hpp"

namespace w8y::app {

namespace {

constexpr int error_exit = 2;
constexpr int signal_exit = 128;
/// Polls per second while no item is free: runs start within 1 s, and the load on Redis is
/// negligible.
constexpr unsigned polls_per_second = 4;

ListConfigPtr rule_of(const W8yOptions& options) {
  ListConfig rule;
  rule.prefix = options.key_prefix;
  rule.command = options.command;
  rule.child.edit().env_var = options.env_var;
  rule.key_expiry = options.key_expiry;
  rule.source = CircularSettings{.lock_key = options.lock_key};
  rule.backoff.reset();
  rule.keeps_records = false;
  rule.supervised = false;
  return std::make_shared<const ListConfig>(std::move(rule));
}

int exit_code_of(const ProcessEnd& end) {
  struct Code {
    int operator()(const Exited& exited) const { return exited.code; }
    int operator()(const Signalled& signalled) const { return signal_exit + signalled.signal; }
    int operator()(const NotStarted&) const { return error_exit; }
    // Of `stream` processes only, which this program does not use.
    int operator()(const Answered&) const { return error_exit; }
    int operator()(const Unanswered&) const { return error_exit; }
  };
  return std::visit(Code{}, end);
}

/// Returns an item for messages: of a long item, the first bytes and the length.
std::string named(const DisplayItem& item) {
  if (!item.is_truncated()) return "'" + item.beginning + "'";
  return "'" + item.beginning + "…' (" + std::to_string(item.length) + " bytes)";
}

constexpr std::array stop_signals = {SIGINT, SIGTERM, SIGHUP};

/// Blocks the stop signals from before the first claim until they are handled, so that no lock is
/// left behind.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : stop_signals) sigaddset(&held, number);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  void let_through() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Run of one item: waits for Redis, claims, runs, settles, ends. With -c, claims again after the
/// settlement.
class OneItem final : private PollerObserver, private redis::Client::Listener {
 public:
  OneItem(loop::Loop& loop, const W8yOptions& options, W8yLog& log,
          std::shared_ptr<store::RedisSession> session, std::uint64_t seed)
      : redis::Client::Listener(session->client),
        loop_(loop),
        options_(options),
        log_(log),
        session_(std::move(session)),
        idle_(loop.timers(), loop.clock(), polls_per_second, seed),
        poller_(PollerHost{loop.clock(), loop.timers(), places_, *this}, rule_of(options)),
        executor_(std::make_shared<executor::AttachedExecutor>(loop, poller_.run_handler())),
        drain_(loop.timers()),
        timeout_(loop.timers()) {}

  int run() {
    SignalsHeldBack until_caught;
    poller_.allow_ahead(false);
    if (!options_.continuous) poller_.set_budget(1);
    poller_.begin(source::make_circular(session_, idle_, poller_.source_handler()), executor_);
    loop_.step();
    // The claim is in flight. Prepares the run while Redis works.
    try {
      catch_signals();
      until_caught.let_through();
      executor_->prepare();
    } catch (const std::exception& error) {
      log_.line(error.what());
      finish(error_exit);  // hands back the claim; no signal interrupts this
    }
    loop_.run();
    return exit_;
  }

 private:
  // PollerObserver
  void run_started(const Poller&, const ActiveRun& run) override {
    log_.line("running " + options_.command.front() + " on " + named(run.claim.item));
  }
  void run_message(const Poller&, const ActiveRun&, const Message&) override {}
  void run_logged(const Poller&, const ActiveRun&, std::string_view, bool) override {}
  void run_ended(const Poller&, const EndedRun& run) override {
    const int code = exit_code_of(run.end.process);
    if (const auto* unstarted = std::get_if<NotStarted>(&run.end.process)) {
      log_.line(unstarted->reason);
    } else {
      log_.line(named(run.claim.item) + ": " + end_text(run.end.process));
    }
    const bool good = std::holds_alternative<Exited>(run.end.process) &&
                      std::find(options_.exit_codes.begin(), options_.exit_codes.end(), code) !=
                          options_.exit_codes.end();
    if (options_.continuous && good && stop_signal_ == 0) return;
    finish(stop_signal_ != 0 ? signal_exit + stop_signal_ : code);
  }
  void lease_changed(const Poller&, const ActiveRun& run, bool lost) override {
    log_.line((lost ? "lease lost, run continues: " : "lease regained: ") + named(run.claim.item));
  }
  void state_changed(Poller& poller) override {
    if (poller.drained()) return loop_.stop();
    if (poller.state() != PollerState::idle) return;
    const ClaimEnd end = poller.last_claim();
    if (end == last_rest_) return;  // already logged
    last_rest_ = end;
    const bool unavailable = end == ClaimEnd::unavailable || end == ClaimEnd::refused;
    if (end == ClaimEnd::empty) log_.line("the list is empty; no work to do");
    if (end == ClaimEnd::nothing_free) log_.line("no item is free");
    if (end == ClaimEnd::paused) log_.line("the list is paused: " + poller.detail());
    if (unavailable) print_error(poller.detail());
    if (!options_.continuous) finish(unavailable ? error_exit : 0);
  }

  void shortage_changed(const Poller&) override {}
  void item_quarantined(const Poller&, const DisplayItem& item, const std::string& why) override {
    log_.line(named(item) + " is quarantined: " + why);
  }
  void settlement_abandoned(const Poller&, const RunId&, const std::string& why) override {
    log_.line(why);
  }

  // redis::Client::Listener
  void on_up() override {
    last_rest_.reset();
    error_.clear();
  }
  void on_down(const std::string& why) override { print_error(why); }

  /// Logs an error once, even if poller and connection report it.
  void print_error(const std::string& why) {
    if (why.empty() || why == error_) return;
    error_ = why;
    log_.line(why);
  }

  void catch_signals() {
    for (const int number : stop_signals) {
      struct sigaction now {};
      // Signals that nohup(1) ignores remain ignored.
      if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
      signals_.push_back(std::make_unique<loop::SignalWatch>(
          loop_, number, [this](int caught) { on_stop_signal(caught); }));
    }
  }

  void on_stop_signal(int number) {
    stop_signal_ = number;
    executor_->signal(number);
    if (!poller_.runs().empty()) return;
    finish(signal_exit + number);
    if (!session_->client.connected()) loop_.stop();  // no lock is held, and no reply can arrive
  }

  /// Stops claiming. The loop ends when the lock is released, or has expired because it could not
  /// be released.
  void finish(int code) {
    if (finishing_) return;
    finishing_ = true;
    exit_ = code;
    poller_.set_budget(1);
    // From the loop, because this may be a callback of the poller.
    drain_.set(loop_.now(), [this] { poller_.drain(); });
    timeout_.set(loop_.now() + options_.key_expiry, [this] {
      log_.line("could not release the lock; it expires by itself");
      loop_.stop();
    });
  }

  loop::Loop& loop_;
  const W8yOptions& options_;
  W8yLog& log_;
  std::shared_ptr<store::RedisSession> session_;
  SlotPool places_{loop_.clock(), 0};
  IdlePolls idle_;
  Poller poller_;
  std::shared_ptr<executor::AttachedExecutor> executor_;
  Timer drain_;
  Timer timeout_;
  std::vector<std::unique_ptr<loop::SignalWatch>> signals_;
  std::optional<ClaimEnd> last_rest_;
  std::string error_;  ///< already logged
  int stop_signal_ = 0;
  bool finishing_ = false;
  int exit_ = 0;
};

std::string hostname() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

int run(const W8yOptions& options, char** argv) {
  const redis::Url url = redis::parse_url(options.redis_url);
  if (url.kind == redis::Url::Kind::cluster && !redis::has_hash_tag(options.key_prefix))
    throw std::runtime_error(
        "in a cluster all keys of a list must share a hash slot: the key prefix needs a hash tag, "
        "as in "
        "-k '{work}'");
  if (url.tls) prepare_tls(argv);
  W8yLog log(options.quiet, options.timestamps, options.log_file);
  if (options.key_prefix.empty()) log.line("warning: empty key prefix; the list is 'list'");
  if (const auto found = process::find_program(options.command.front()); found.path.empty()) {
    log.line(options.command.front() + ": " + found.problem);
    return error_exit;
  }
  signal(SIGPIPE, SIG_IGN);
  loop::Loop loop;
  redis::ClientOptions client;
  client.url = url;
  client.tls = redis::tls_environment();
  client.scripts_are_known = true;
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) < 0) throw std::system_error(errno, std::generic_category());
  const auto session = std::make_shared<store::RedisSession>(
      loop, client,
      store::RedisSession::Holder{hostname(), getpid(), seed, process::in_own_pid_namespace()});
  OneItem one(loop, options, log, session, seed);
  // Nothing is left to write, and the kernel frees the memory faster.
  std::_Exit(one.run());
}

}  // namespace

}  // namespace w8y::app

int main(int argc, char** argv) {
  w8y::app::W8yOptions options;
  int status = 0;
  if (!w8y::app::parse_w8y_options(argc, argv, options, status)) return status;
  try {
    return w8y::app::run(options, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "w8y: %s\n", error.what());
    return 2;
  }
}
