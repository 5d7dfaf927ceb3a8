// Compares the simulation's model of gearmand with a real one. Both get the same random packets
// over several connections that submit jobs, request jobs, and close. After each step, the replies
// on each connection and the administrator's counts are compared.
#include <CLI/CLI.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gearman/gearmand.hpp"
#include "simulation/gearmand.hpp"
#include "simulation/random.hpp"
#include "support/waiting.hpp"

namespace w8y::sim {

namespace {

constexpr int timeout_ms = 60'000;
constexpr std::size_t max_connections = 6;
/// Prefix of the handles of the model.
const std::string model_handles = "H:model:";

/// Connection to the real gearmand.
class Socket {
 public:
  explicit Socket(int port) : fd_(gearman::test::connect_to(port)) {
    if (fd_ < 0) throw std::runtime_error("gearmand does not accept");
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(const std::string& bytes) const {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t sent = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("gearmand has closed a connection");
      at += static_cast<std::size_t>(sent);
    }
  }
  /// Waits for more bytes.
  void read(std::string& into) const {
    pollfd wait{fd_, POLLIN, 0};
    std::array<char, 4096> bytes{};
    const ssize_t count =
        poll(&wait, 1, timeout_ms) > 0 ? recv(fd_, bytes.data(), bytes.size(), 0) : 0;
    if (count <= 0) throw std::runtime_error("gearmand does not reply");
    into.append(bytes.data(), static_cast<std::size_t>(count));
  }
  /// Sends a command of the administrator and returns the lines of its reply.
  [[nodiscard]] std::string request(const std::string& command) const {
    send(command + '\n');
    std::string text;
    while (text != ".\n" && !text.ends_with("\n.\n")) read(text);
    text.resize(text.size() - 2);
    return text;
  }

 private:
  const int fd_;
};

class ModelPeer final : public Service::Peer {
 public:
  void replied(std::string bytes) override { received += bytes; }
  void closed() override {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  std::string received;

 private:
  const std::string name_ = "peer";
};

/// The same connection to both gearmands.
struct Both {
  explicit Both(int port) : real(port) {}
  Socket real;
  ModelPeer model;
};

class GearmanComparison {
 public:
  explicit GearmanComparison(std::uint64_t seed)
      : random_(seed), world_(seed), model_(world_, "model"), admin_(real_.port()) {}
  ~GearmanComparison() {
    for (auto& each : connections_)
      if (each) model_.gone(each->model);
  }
  GearmanComparison(const GearmanComparison&) = delete;
  GearmanComparison& operator=(const GearmanComparison&) = delete;

  void step() {
    ++steps_;
    auto& connection = connections_.at(random_.below(connections_.size()));
    if (!connection) {
      connection = std::make_unique<Both>(real_.port());
      model_.connected(connection->model);
      what_ = "a connection";
    } else if (random_.chance(4)) {
      model_.gone(connection->model);
      connection.reset();
      what_ = "the end of a connection";
      wait_for_end();
    } else {
      const std::string packet = draw();
      send(*connection, packet);
      compare(*connection);
    }
    for (auto& each : connections_)
      if (each) compare(*each);
    compare_counts();
  }

 private:
  /// Replaces the handles of the model in a packet by those of the real gearmand.
  [[nodiscard]] std::string to_real(std::string text) const {
    for (std::size_t at = 0; (at = text.find(model_handles, at)) != std::string::npos;)
      text.replace(at, model_handles.size(), real_handles_);
    return text;
  }
  void send(Both& to, const std::string& packet) {
    std::string bytes = packet;
    const auto taken = parse_packet(bytes);
    // The length may change.
    to.real.send(to_gearmand(taken->type, {to_real(taken->body)}));
    model_.received(to.model, packet);
  }

  std::string draw() {
    const std::string function = "f" + std::to_string(random_.below(3));
    const auto dice = random_.below(100);
    what_ = "packet " + std::to_string(dice) + ", " + function;
    if (dice < 25) {
      const Say how = random_.one_of<Say>({Say::submit_job, Say::submit_job, Say::submit_job_bg,
                                           Say::submit_job_high, Say::submit_job_high_bg,
                                           Say::submit_job_low, Say::submit_job_low_bg});
      const std::string unique = random_.chance(60) ? "" : "u" + std::to_string(random_.below(6));
      return to_gearmand(how, {function, unique, "load" + std::to_string(steps_)});
    }
    if (dice < 35) return to_gearmand(Say::can_do, {function});
    if (dice < 38) return to_gearmand(Say::cant_do, {function});
    if (dice < 39) return to_gearmand(Say::reset_abilities, {});
    if (dice < 52) return to_gearmand(Say::pre_sleep, {});
    if (dice < 65) return to_gearmand(Say::grab_job_uniq, {});
    if (dice < 75) return to_gearmand(Say::grab_job, {});
    return draw_work();
  }
  /// Draws a packet for a job of this connection, of another one, or of none.
  std::string draw_work() {
    std::string handle = model_handles + "999999";
    if (!model_.jobs().empty() && random_.chance(95))
      handle = std::next(model_.jobs().begin(),
                         static_cast<std::ptrdiff_t>(random_.below(model_.jobs().size())))
                   ->first;
    const Say what = random_.one_of<Say>({Say::work_complete, Say::work_complete, Say::work_fail,
                                          Say::work_exception, Say::work_data, Say::work_warning,
                                          Say::work_status});
    what_ = "work packet " + std::to_string(static_cast<unsigned>(what));
    if (what == Say::work_fail) return to_gearmand(what, {handle});
    if (what == Say::work_status) return to_gearmand(what, {handle, "1", "2"});
    return to_gearmand(what, {handle, "said" + std::to_string(steps_)});
  }

  /// Compares the replies of both gearmands up to the reply to an ECHO_REQ.
  void compare(Both& with) {
    const std::string question = "q" + std::to_string(++questions_);
    send(with, to_gearmand(Say::echo_req, {question}));
    world_.run_until(world_.now() + std::chrono::milliseconds(1));
    std::string bytes;
    while (true) {
      const auto real = parse_packet(bytes);
      if (!real) {
        with.real.read(bytes);
        continue;
      }
      if (real->type == Say::job_created && real_handles_.empty())
        real_handles_ = real->body.substr(0, real->body.rfind(':') + 1);
      const auto model = parse_packet(with.model.received);
      if (!model) return differ("real: " + text_of(*real) + ", model: nothing");
      if (real->type != model->type || real->body != to_real(model->body))
        return differ("real: " + text_of(*real) + ", model: " + text_of(*model));
      if (real->type == Say::echo_res && real->body == question) break;
    }
    if (!with.model.received.empty()) differ("model sends more");
  }
  void compare_counts() {
    const std::string real = sorted(admin_.request("status")), model = sorted(model_.status());
    if (real != model) differ("counts, real:\n" + real + "model:\n" + model);
  }
  /// Waits until gearmand has noticed the end of a connection.
  void wait_for_end() {
    const auto there =
        static_cast<long>(std::count_if(connections_.begin(), connections_.end(),
                                        [](const auto& each) { return each != nullptr; }));
    test::wait_until("the end of a connection", [&] {
      const std::string lines = admin_.request("workers");
      return std::count(lines.begin(), lines.end(), '\n') == there + 1 &&
             sorted(admin_.request("status")) == sorted(model_.status());
    });
  }

  static std::string sorted(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }
  static std::string text_of(const GearmanPacket& packet) {
    std::string body = packet.body;
    std::replace(body.begin(), body.end(), '\0', '|');
    return std::to_string(static_cast<unsigned>(packet.type)) + ' ' + body;
  }
  void differ(const std::string& how) const {
    throw std::runtime_error("step " + std::to_string(steps_) + ", " + what_ + ": " + how);
  }

  Random random_;
  World world_;
  Gearmand model_;
  gearman::test::Gearmand real_;
  Socket admin_;
  std::string real_handles_;
  std::array<std::unique_ptr<Both>, max_connections> connections_;
  std::uint64_t steps_ = 0;
  std::uint64_t questions_ = 0;
  std::string what_;
};

}  // namespace

}  // namespace w8y::sim

int main(int argc, char** argv) {
  std::uint64_t steps = 3000, seed = 1;
  CLI::App app("Compare the simulation's model of gearmand with a real one");
  app.add_option("--steps", steps, "Number of packets and connections")->capture_default_str();
  app.add_option("--seed", seed, "Seed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!w8y::gearman::test::Gearmand::is_here()) return 77;  // skipped
  try {
    w8y::sim::GearmanComparison comparison(seed);
    for (std::uint64_t i = 1; i <= steps; ++i) comparison.step();
    std::cout << steps << " steps from seed " << seed << ": model and gearmand agree\n";
    return 0;
  } catch (const std::exception& error) {
    std::cout << "seed " << seed << ": " << error.what() << '\n';
    return 1;
  }
}
