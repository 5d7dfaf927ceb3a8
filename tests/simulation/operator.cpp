#include "simulation/operator.hpp"

#include <uv.h>

#include <iostream>
#include <sstream>
#include <utility>

#include "ctl/command_line.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "loop/loop.hpp"
#include "operator/query_context.hpp"
#include "redis/url.hpp"

// Functions of the program w8yctl that name the program and its user.
void w8y::ctl::complain(const std::string&) {}

std::string w8y::ctl::operator_name() {
  return "an operator";
}

namespace w8y::sim {

namespace {

constexpr std::size_t stack_size = std::size_t{1} << 20;
/// Socket without a w8yd, so that commands query Redis.
constexpr const char* nowhere = "/dev/null/w8yd.sock";

/// Argument of Operator::enter(). makecontext() can pass only numbers.
thread_local Operator* entering = nullptr;

/// Redirects std::cout while it exists. Only commands print while a world runs.
class Printed {
 public:
  explicit Printed(std::ostream& into) : before_(std::cout.rdbuf(into.rdbuf())) {}
  ~Printed() { std::cout.rdbuf(before_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

 private:
  std::streambuf* before_;
};

}  // namespace

Operator::Operator(World& world, Network& network, std::string name)
    : world_(world), network_(network), name_(std::move(name)), clock_(world) {}

Operator::~Operator() {
  given_up_ = true;
  if (busy()) resume();
}

void Operator::run(const std::string& server, Errand errand, Over over) {
  begin(server, [this, errand = std::move(errand), over = std::move(over)] {
    std::string error;
    do_errand(errand, error);
    busy_ = false;
    if (!given_up_) over(error);
  });
}

void Operator::command(const std::string& server, std::vector<std::string> words,
                       std::function<void(const CommandEnd& end)> over) {
  begin(server, [this, words = std::move(words), over = std::move(over)] {
    const CommandEnd end = do_command(words);
    busy_ = false;
    if (!given_up_) over(end);
  });
}

void Operator::begin(const std::string& server, std::function<void()> work) {
  server_ = server;
  work_ = std::move(work);
  busy_ = true;
  inbox_.clear();
  if (!stack_) stack_ = std::make_unique<char[]>(stack_size);
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = stack_size;
  inside_.uc_link = &outside_;
  makecontext(&inside_, &Operator::enter, 0);
  entering = this;
  resume();
}

void Operator::enter() {
  Operator* const self = entering;
  self->work_();
}
void Operator::do_errand(const Errand& errand, std::string& error) {
  loop::Loop loop(clock_);
  use(loop, [&] {
    redis::ClientOptions options;
    options.url = redis::parse_url("rediss://" + server_);
    redis::SyncClient client(loop, options);
    client_ = &client;
    try {
      errand(client);
    } catch (const std::exception& caught) {
      error = caught.what();
    }
    client_ = nullptr;
  });
}

/// Runs a command line as main() of w8yctl does.
CommandEnd Operator::do_command(const std::vector<std::string>& words) {
  CommandEnd end;
  std::ostringstream out;
  const Printed printed(out);
  std::vector<std::string> all{"w8yctl", "--redis-url", "rediss://" + server_};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> line;
  for (std::string& word : all) line.push_back(word.data());
  ctl::Options options;
  try {
    const ctl::CommandPtr command =
        ctl::parse_command_line(static_cast<int>(line.size()), line.data(), options, end.exit);
    options.socket = nowhere;  // not the w8yd of this machine
    ctl::Context context(options, clock_);
    use(context.loop(), [&] { end.exit = command->run(options, context); });
  } catch (const ctl::Failure& failure) {
    end.exit = failure.exit();
    end.why = failure.what();
  } catch (const verbs::QueryError& refusal) {
    end.exit = ctl::refused;
    end.why = refusal.what();
  } catch (const redis::RedisError& error) {
    end.exit = error.code() == redis::ErrorCode::none ? ctl::not_reachable : ctl::refused;
    end.why = error.what();
    end.unanswered = true;
  } catch (const std::exception& error) {
    end.exit = ctl::refused;
    end.why = error.what();
  }
  end.unanswered = end.unanswered || end.exit == ctl::not_reachable;
  end.out = out.str();
  return end;
}

/// Runs `work` with a loop whose iterations yield to the world.
void Operator::use(loop::Loop& loop, const std::function<void()>& work) {
  uv_idle_t each_turn;
  loop_ = &loop;
  network_.attach(loop, *this);
  // With an idle handle, no loop iteration waits for descriptors, of which there are none.
  uv_idle_init(loop.uv(), &each_turn);
  each_turn.data = this;
  uv_idle_start(&each_turn,
                [](uv_idle_t* idle) { static_cast<Operator*>(idle->data)->give_way(); });
  const auto leave = [&] {
    network_.detach(loop);
    uv_close(reinterpret_cast<uv_handle_t*>(&each_turn), nullptr);
    uv_run(loop.uv(), UV_RUN_NOWAIT);  // the handle is on this stack
  };
  try {
    work();
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

/// Called in each loop iteration. Yields to the world until data has arrived or a timer is due.
void Operator::give_way() {
  loop_->step();
  const auto due = [this] {
    const auto next = loop_->timers().next();
    return next && *next <= clock_.now();
  };
  while (inbox_.empty() && !due() && !given_up_) {
    if (const auto next = loop_->timers().next())
      world_.at(*next, [this, wait = ++waits_] {
        if (wait == waits_ && busy()) resume();
      });
    is_inside_ = false;
    swapcontext(&inside_, &outside_);
  }
  if (given_up_) {
    if (client_ != nullptr) client_->give_up("the world is over");
    if (const auto next = loop_->timers().next(); next && *next > clock_.now())
      clock_.ahead += *next - clock_.now();
  }
  for (const auto& what : std::exchange(inbox_, {})) what();
}

void Operator::resume() {
  is_inside_ = true;
  swapcontext(&outside_, &inside_);
  is_inside_ = false;
}

void Operator::deliver(std::function<void()> what) {
  inbox_.push_back(std::move(what));
  if (!is_inside_) resume();
}

}  // namespace w8y::sim
