#include "simulation/operator.hpp"

#include <uv.h>

#include <utility>

#include "loop/loop.hpp"
#include "redis/url.hpp"

namespace w8y::sim {

namespace {

constexpr std::size_t stack_size = std::size_t{1} << 20;

/// makecontext() hands over numbers only.
thread_local Operator* entering = nullptr;

}  // namespace

Operator::Operator(World& world, Network& network, std::string name)
    : world_(world), network_(network), name_(std::move(name)), clock_(world) {}

Operator::~Operator() {
  given_up_ = true;
  if (busy()) resume();
}

void Operator::run(const std::string& server, Errand errand, Over over) {
  server_ = server;
  errand_ = std::move(errand);
  over_ = std::move(over);
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
  entering->work();
}

void Operator::work() {
  std::string trouble;
  do_errand(trouble);
  errand_ = nullptr;
  if (!given_up_) over_(trouble);
}

void Operator::do_errand(std::string& trouble) {
  uv_idle_t each_turn;
  loop::Loop loop(clock_);
  loop_ = &loop;
  network_.attach(loop, *this);
  // With it, no turn of the loop waits for descriptors, of which it has none.
  uv_idle_init(loop.uv(), &each_turn);
  each_turn.data = this;
  uv_idle_start(&each_turn,
                [](uv_idle_t* idle) { static_cast<Operator*>(idle->data)->give_way(); });
  {
    redis::ClientOptions options;
    options.url = redis::parse_url("rediss://" + server_);
    redis::SyncClient client(loop, options);
    client_ = &client;
    try {
      errand_(client);
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  }
  network_.detach(loop);
  uv_close(reinterpret_cast<uv_handle_t*>(&each_turn), nullptr);
}

/// In each turn of its loop: until something has come, or a timer of its own is due.
void Operator::give_way() {
  loop_->step();
  const auto due = [this] {
    const auto next = loop_->timers().next();
    return next && *next <= world_.now();
  };
  while (inbox_.empty() && !due() && !given_up_) {
    if (const auto next = loop_->timers().next())
      world_.at(*next, [this, wait = ++waits_] {
        if (wait == waits_ && busy()) resume();
      });
    is_inside_ = false;
    swapcontext(&inside_, &outside_);
  }
  if (given_up_) client_->give_up("the world is over");
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
