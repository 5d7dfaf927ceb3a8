#include "gearman/socket_worker.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/escape.hpp"
#include "loop/socket_transport.hpp"

namespace w8y::gearman {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration max_pause = std::chrono::seconds(1);
/// Minimum duration of a connection after which the pauses start again at the first one.
constexpr Duration lasting = std::chrono::seconds(5);
/// Bytes of a packet besides its workload: handle, function, unique id.
constexpr std::size_t room_for_names = std::size_t{64} << 10U;
/// Maximum output that a server may leave unread. Beyond it the connection is closed, to limit the
/// memory.
constexpr std::size_t max_unread = std::size_t{128} << 20U;
/// Period without output after which the hook is removed. Most of thousands of connections are
/// silent, and a silent connection must cost nothing per loop iteration.
constexpr Duration keeps_hook = std::chrono::milliseconds(100);

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state >> 12U;
  state ^= state << 25U;
  state ^= state >> 27U;
  return state * 0x2545F4914F6CDD1DULL;
}

}  // namespace

std::unique_ptr<loop::Transport> over_tcp(loop::Loop& loop, const GearmanServer& server,
                                          Duration timeout, loop::Transport::Handler& handler) {
  return std::make_unique<loop::SocketTransport>(loop, loop::Endpoint{server.host, server.port},
                                                 timeout, handler);
}

SocketWorker::SocketWorker(loop::Loop& loop, WorkerTerms terms, WorkerHandler& handler)
    : loop_(loop),
      terms_(std::move(terms)),
      handler_(handler),
      random_(terms_.seed | 1U),
      timer_(loop.timers()),
      stuck_(loop.timers()),
      silent_(loop.timers()) {
  timer_.set(loop_.now(), [this] { attempt(); });
}

/// Sends the pending output, as far as the socket accepts it.
SocketWorker::~SocketWorker() {
  if (state_ == State::up) flush();
  if (transport_) transport_->close();
}

void SocketWorker::attempt() {
  dead_.clear();
  state_ = State::connecting;
  out_.clear();
  sent_ = 0;
  offered_.clear();
  marks_back_ = marks_;
  mark_due_ = grab_behind_ = false;
  reader_ = std::make_unique<PacketReader>(terms_.max_workload + room_for_names);
  transport_ = terms_.make(loop_, terms_.server, terms_.connect_timeout, *this);
  transport_->connect();
}

void SocketWorker::on_connected() {
  if (!terms_.client_id.empty()) write(request(PacketType::set_client_id, {terms_.client_id}));
  write(request(PacketType::echo_req, {"0"}));
  timer_.set(loop_.now() + terms_.connect_timeout,
             [this] { end("it accepts connections and does not reply"); });
}

void SocketWorker::answered_first() {
  state_ = State::up;
  up_since_ = loop_.now();
  received_ = up_since_;
  error_.clear();
  reported_down_ = false;
  send_offer();
  watch();
  handler_.on_up(*this);
}

void SocketWorker::on_broken(const std::string& why) {
  end(why);
}

/// Next pause. The pauses grow and have a random part, so that the hosts of a fleet do not
/// reconnect at the same time.
Duration SocketWorker::pause() {
  const bool lasted = state_ == State::up && loop_.now() - up_since_ >= lasting;
  pause_ = lasted || pause_ == Duration(0) ? first_pause : std::min(pause_ * 2, max_pause);
  const auto part = static_cast<double>(next_random(random_) >> 11U) / 9007199254740992.0;
  return Duration(
      static_cast<Duration::rep>(static_cast<double>(pause_.count()) * (0.75 + 0.5 * part)));
}

void SocketWorker::end(const std::string& why) {
  const bool was_up = state_ == State::up;
  const Duration wait = pause();
  state_ = State::down;
  error_ = why;
  grabs_.clear();
  asleep_ = false;
  flush_due_ = false;
  stuck_.cancel();
  if (transport_) {
    transport_->close();
    dead_.push_back(std::move(transport_));
  }
  timer_.set(loop_.now() + wait, [this] { attempt(); });
  if (!was_up && std::exchange(reported_down_, true)) return;
  reported_down_ = true;
  handler_.on_down(*this, why);
}

/// Checks periodically, while the connection is up, that the server still replies.
void SocketWorker::watch() {
  timer_.set(loop_.now() + timeout / 3, [this] {
    const bool asks = !grabs_.empty() || marks_back_ < marks_;
    const Duration silence =
        loop_.now() - (asks ? std::max(received_, question_since_) : received_);
    if (asks && silence >= timeout)
      return end("it has not replied for " + std::to_string(silence / std::chrono::seconds(1)) +
                 " s");
    if (!asks && silence >= timeout / 3) mark();
    watch();
  });
}

// ---- output

void SocketWorker::write(std::string packet) {
  if (out_.empty()) {
    out_ = std::move(packet);
  } else {
    out_ += packet;
  }
  flush_soon();
}

/// Sends the output of a loop iteration in one write: results, and the requests of grab() that
/// follow them.
void SocketWorker::flush_soon() {
  flush_due_ = true;
  if (flush_) return;
  flush_ = std::make_unique<loop::Loop::BeforeWait>(loop_, [this] {
    if (flush_due_) flush();
  });
  silent_.set(loop_.now() + keeps_hook, [this] {
    flush_.reset();
    if (flush_due_) flush_soon();
  });
}

void SocketWorker::send(std::string packet) {
  if (state_ == State::up) write(std::move(packet));
}

void SocketWorker::flush() {
  flush_due_ = false;
  if (!transport_) return;
  if (std::exchange(mark_due_, false)) {
    ++marks_;
    // A grab() after the mark makes an echo unnecessary: its reply confirms the mark as well.
    if (std::exchange(grab_behind_, false)) {
      grabs_.back() = marks_;
    } else {
      out_ += request(PacketType::echo_req, {std::to_string(marks_)});
    }
  }
  sent_ += transport_->write(std::string_view(out_).substr(sent_));
  if (sent_ < out_.size()) {
    if (out_.size() - sent_ > max_unread)
      stuck_.set(loop_.now(), [this] { end("it does not read requests"); });
    return;
  }
  out_.clear();
  sent_ = 0;
}

std::uint64_t SocketWorker::mark() {
  if (state_ != State::up) return marks_;
  if (!mark_due_ && grabs_.empty() && marks_back_ == marks_) question_since_ = loop_.now();
  mark_due_ = true;
  grab_behind_ = false;
  flush_soon();
  return marks_ + 1;
}

void SocketWorker::offer(const std::string& function, bool able) {
  function_ = function;
  able_ = able;
  if (state_ == State::up) send_offer();
}

void SocketWorker::send_offer() {
  const std::string wanted = able_ ? function_ : std::string();
  if (wanted == offered_) return;
  asleep_ = false;
  if (!offered_.empty()) write(request(PacketType::cant_do, {offered_}));
  if (!wanted.empty()) write(request(PacketType::can_do, {wanted}));
  offered_ = wanted;
}

void SocketWorker::grab() {
  if (state_ != State::up) return;
  if (grabs_.empty() && marks_back_ == marks_ && !mark_due_) question_since_ = loop_.now();
  grabs_.push_back(0);
  grab_behind_ = mark_due_;
  asleep_ = false;
  write(request(PacketType::grab_job_uniq));
}

void SocketWorker::sleep() {
  if (state_ != State::up || asleep_) return;
  asleep_ = true;
  write(request(PacketType::pre_sleep));
}

// ---- input

void SocketWorker::on_bytes(std::string_view bytes) {
  received_ = loop_.now();
  reader_->add(bytes);
  while (transport_) {
    auto packet = reader_->next();
    if (!packet) break;
    handle_packet(std::move(*packet));
  }
  if (transport_ && !reader_->problem().empty()) end(reader_->problem());
}

void SocketWorker::handle_packet(Packet&& packet) {
  switch (packet.type) {
    case PacketType::echo_res:
      return handle_echo(packet);
    case PacketType::noop:
      if (std::exchange(asleep_, false)) handler_.on_woken(*this);
      break;
    case PacketType::no_job:
      if (handle_answer()) handler_.on_no_job(*this);
      break;
    case PacketType::job_assign_uniq:
      handle_job(packet, reader_->cut());
      break;
    case PacketType::error: {
      const auto said = packet.arguments(2);
      handler_.on_error(
          *this, said ? escape((*said)[0]) + ": " + escape((*said)[1]) : "invalid error packet");
      break;
    }
    default:  // nothing that a worker requests
      break;
  }
}

void SocketWorker::handle_echo(const Packet& packet) {
  if (state_ == State::connecting) return answered_first();
  std::uint64_t mark = 0;
  std::from_chars(packet.body.data(), packet.body.data() + packet.body.size(), mark);
  confirm(mark);
}

void SocketWorker::confirm(std::uint64_t mark) {
  if (mark <= marks_back_ || mark > marks_) return;
  marks_back_ = mark;
  handler_.on_confirmed(*this, mark);
}

/// Handles the reply to the oldest grab(). False if there is none. The grab() counts as pending
/// until the confirmation has been reported: the handler must not treat the connection as idle,
/// since the reply may be a job.
bool SocketWorker::handle_answer() {
  if (grabs_.empty()) return false;
  confirm(grabs_.front());
  grabs_.pop_front();
  return true;
}

/// Arguments: handle, function, unique id, workload.
void SocketWorker::handle_job(const Packet& packet, bool cut) {
  const auto arguments = packet.arguments(4);
  if (!arguments || grabs_.empty())
    return end("it sent a job that was not requested, or an incomplete job");
  Job job;
  job.handle = (*arguments)[0];
  job.function = (*arguments)[1];
  job.unique = (*arguments)[2];
  job.cut = cut || (*arguments)[3].size() > terms_.max_workload;
  if (!job.cut) job.workload = (*arguments)[3];
  if (handle_answer()) handler_.on_job(*this, std::move(job));
}

}  // namespace w8y::gearman
