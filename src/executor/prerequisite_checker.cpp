#include "executor/prerequisite_checker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/fd.hpp"
#include "loop/loop.hpp"
#include "process/signals_blocked.hpp"
#include "process/spawn_service.hpp"

namespace w8y::executor {

namespace {

/// Pause before another check, if the host is short of processes.
constexpr Duration short_pause = std::chrono::milliseconds(250);

int make_event() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

}  // namespace

/// One check, shared by its thread and the loop.
struct PrerequisiteChecker::Work {
  explicit Work(Prerequisites what) : needs(std::move(what)) {}
  const Prerequisites needs;
  std::atomic<PrerequisiteStep> step = PrerequisiteStep::queued;
  PrerequisiteResult checked;                  ///< written by the thread until it is done
  std::optional<process::SpawnError> problem;  ///< error of the last attempt
};

/// Outlives its owner while a thread is blocked.
struct PrerequisiteChecker::Shared {
  explicit Shared(Check how) : check(std::move(how)), event(make_event()) {}
  const Check check;
  const Fd event;  ///< readable: a check is done

  std::mutex mutex;
  std::deque<std::shared_ptr<Work>> queue;
  std::vector<std::shared_ptr<Work>> done;
  std::list<Instant> busy;  ///< start of the current check of each thread
  bool closed = false;
};

/// Spawns a child that must fail at its exec, and not before.
class PrerequisiteChecker::Trial final : private process::SpawnClient {
 public:
  using Told = std::function<void(const std::optional<process::SpawnError>& problem)>;

  Trial(loop::Loop& loop, process::SpawnService& service, process::SpawnRequest&& request,
        Told told)
      : reported_(std::move(told)),
        null_(open("/dev/null", O_RDWR | O_CLOEXEC)),
        spawning_(loop, service, with_streams(std::move(request), null_.get()), {}, *this) {}

 private:
  void on_spawned(process::Spawned&& spawned) override {
    const Fd pidfd(spawned.pidfd);
    reported_(std::nullopt);
  }
  void on_not_spawned(const process::SpawnError& error) override {
    if (null_) return reported_(judge_trial(error));
    reported_(process::SpawnError{EMFILE, "cannot open /dev/null"});
  }

  static process::SpawnRequest with_streams(process::SpawnRequest&& request, int null) {
    request.in = request.out = request.err = null;
    return std::move(request);
  }

  const Told reported_;
  const Fd null_;
  process::PendingSpawn spawning_;
};

PrerequisiteChecker::PrerequisiteChecker(loop::Loop& loop, process::SpawnService* service,
                                         Check check)
    : loop_(loop),
      service_(service),
      shared_(std::make_shared<Shared>(check                ? std::move(check)
                                       : service == nullptr ? Check(check_and_try)
                                                            : Check(look_for))),
      ready_(loop, shared_->event.get(), [this](bool, bool) { handle_answers(); }),
      more_threads_(loop.timers()),
      sweep_(loop.timers()) {
  ready_.want(true, false);
  ready_.keep_loop_alive(false);
}

PrerequisiteChecker::~PrerequisiteChecker() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closed = true;
  shared_->queue.clear();
}

void PrerequisiteChecker::check(const Prerequisites& needs, Duration timeout, Answer answer) {
  Asked& asked = pending_[needs];
  const unsigned id = ++askers_;
  Asker& asker = asked.askers[id];
  asker.callback = std::move(answer);
  asker.timeout = std::make_unique<Timer>(loop_.timers());
  asker.timeout->set(loop_.now() + timeout, [this, needs, id] { gave_up(needs, id); });
  if (!asked.work) {
    asked.work = std::make_shared<Work>(needs);
    enqueue(asked.work);
  }
  hold_loop();
}

void PrerequisiteChecker::hold_loop() {
  ready_.keep_loop_alive(std::any_of(pending_.begin(), pending_.end(), [](const auto& entry) {
    return !entry.second.askers.empty();
  }));
}

void PrerequisiteChecker::enqueue(const std::shared_ptr<Work>& work) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->queue.push_back(work);
  }
  add_threads();
}

void PrerequisiteChecker::add_threads() {
  const process::SignalsBlocked blocked;  // the loop's thread handles signals
  const Instant now = loop_.now();
  const std::lock_guard lock(shared_->mutex);
  auto& busy = shared_->busy;
  auto quick = static_cast<std::size_t>(
      std::count_if(busy.begin(), busy.end(), [now](Instant since) { return now - since < slow; }));
  std::size_t waiting = shared_->queue.size();
  for (; waiting > 0 && quick < at_once && busy.size() < max_threads; --waiting, ++quick) {
    const auto place = busy.insert(busy.end(), now);
    try {
      std::thread([shared = shared_, place] { serve(shared, place); }).detach();
    } catch (const std::system_error&) {
      busy.erase(place);  // too many processes: tried again with the next check, and by the timer
      break;
    }
  }
  if (waiting > 0 || !shared_->queue.empty())
    more_threads_.set(now + short_pause, [this] { add_threads(); });
}

/// Runs on a thread: one check after the other, until none waits.
void PrerequisiteChecker::serve(const std::shared_ptr<Shared>& shared, Since since) {
  std::unique_lock lock(shared->mutex);
  const loop::SystemClock clock{};
  while (!shared->queue.empty() && !shared->closed) {
    const auto work = std::move(shared->queue.front());
    shared->queue.pop_front();
    *since = clock.now();
    lock.unlock();
    work->checked = shared->check(work->needs, work->step);
    lock.lock();
    shared->done.push_back(work);
    const std::uint64_t one = 1;
    // The counter cannot overflow. If there is no reader any more, no caller waits.
    static_cast<void>(!write(shared->event.get(), &one, sizeof one));
  }
  shared->busy.erase(since);
}

void PrerequisiteChecker::handle_answers() {
  std::uint64_t ignored = 0;
  static_cast<void>(!read(shared_->event.get(), &ignored, sizeof ignored));
  std::vector<std::shared_ptr<Work>> done;
  {
    const std::lock_guard lock(shared_->mutex);
    done.swap(shared_->done);
  }
  for (const auto& work : done) on_checked(*work);
  hold_loop();
}

/// Called when the thread has done its part of a check; a trial may follow.
void PrerequisiteChecker::on_checked(const Work& work) {
  const auto found = pending_.find(work.needs);
  if (found == pending_.end()) return;
  Asked& asked = found->second;
  auto request = service_ == nullptr || work.checked.problem
                     ? std::nullopt
                     : trial_of(work.needs, work.checked.account);
  if (!request) return finish(work.needs, work.checked.problem);
  asked.work->step = PrerequisiteStep::trial;
  asked.trial = std::make_unique<Trial>(
      loop_, *service_, std::move(*request),
      [this, needs = work.needs](const std::optional<process::SpawnError>& problem) {
        finish(needs, problem);
        hold_loop();
      });
}

void PrerequisiteChecker::finish(const Prerequisites& needs,
                                 const std::optional<process::SpawnError>& problem) {
  const auto found = pending_.find(needs);
  if (found == pending_.end()) return;
  Asked& asked = found->second;
  if (asked.trial) {
    tried_.push_back(std::move(asked.trial));
    sweep_.set(loop_.now(), [this] { tried_.clear(); });
  }
  if (problem && problem->host_is_short() && !asked.askers.empty()) {
    asked.work->problem = problem;
    asked.again = std::make_unique<Timer>(loop_.timers());
    asked.again->set(loop_.now() + short_pause, [this, same = asked.work] { enqueue(same); });
    return;
  }
  std::optional<Ineligibility> refusal;
  if (problem)
    refusal = Ineligibility{problem->text, problem->about != process::SpawnError::About::program};
  const auto askers = std::move(asked.askers);
  pending_.erase(found);
  for (const auto& [id, asker] : askers) asker.callback(refusal);
}

/// Ends the wait of one caller. The check continues, and later callers with equal prerequisites
/// wait for it.
void PrerequisiteChecker::gave_up(const Prerequisites& needs, unsigned id) {
  const auto found = pending_.find(needs);
  if (found == pending_.end()) return;
  Asked& asked = found->second;
  const auto asker = asked.askers.extract(id);
  if (asker.empty()) return;
  const bool checks_again = asked.again && asked.again->pending();
  const std::string why =
      checks_again ? asked.work->problem->text : no_answer_text(needs, asked.work->step.load());
  if (checks_again && asked.askers.empty()) pending_.erase(found);
  hold_loop();
  asker.mapped().callback(Ineligibility{why, true});
}

}  // namespace w8y::executor
