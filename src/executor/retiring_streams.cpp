#include "executor/retiring_streams.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::executor {

RetiringStreams::RetiringStreams(loop::Loop& loop) : loop_(loop), sweep_(loop.timers()) {}

void RetiringStreams::add(std::unique_ptr<StreamProcess> process) {
  process->move_to(*this);
  leaving_.push_back(std::move(process));
}

void RetiringStreams::when_none(std::function<void()> gone) {
  gone_ = std::move(gone);
  sweep_.set(loop_.now(), [this] { sweep(); });
}

void RetiringStreams::kill_all() {
  for (const auto& process : leaving_) process->kill();
}

void RetiringStreams::on_process_ended(StreamProcess&, StreamEnd&&) {
  sweep_.set(loop_.now(), [this] { sweep(); });
}

void RetiringStreams::sweep() {
  std::erase_if(leaving_,
                [](const auto& process) { return process->state() == StreamState::ended; });
  if (!leaving_.empty() || !gone_) return;
  std::exchange(gone_, nullptr)();
}

}  // namespace w8y::executor
