// Clients of a gearmand that are not hosts: a client that waits for its job, and a worker that
// follows the protocol without w8y. Their packets arrive without delay.
#pragma once

#include <string>
#include <utility>

#include "simulation/gearmand.hpp"

namespace w8y::sim {

class GearmanClient final : public Service::Peer {
 public:
  explicit GearmanClient(Gearmand& at) : at_(at) { at_.connected(*this); }
  ~GearmanClient() override { leave(); }
  GearmanClient(const GearmanClient&) = delete;
  GearmanClient& operator=(const GearmanClient&) = delete;

  void submit(Say how, const std::string& function, const std::string& unique,
              const std::string& workload) {
    at_.received(*this, to_gearmand(how, {function, unique, workload}));
  }
  /// Disconnects. A job that has not ended must not run any more.
  void leave() {
    if (std::exchange(there_, false)) at_.gone(*this);
  }
  [[nodiscard]] bool ended() const { return ended_ || !there_; }

  void replied(std::string bytes) override {
    while (const auto packet = parse_packet(bytes))
      if (packet->type == Say::work_complete || packet->type == Say::work_fail) ended_ = true;
  }
  void closed() override { there_ = false; }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  Gearmand& at_;
  const std::string name_ = "client";
  bool there_ = true;
  bool ended_ = false;
};

class OtherWorker final : public Service::Peer {
 public:
  OtherWorker(World& world, Gearmand& at, Random random) : world_(world), at_(at), random_(random) {
    at_.connected(*this);
    for (const char* function : {"grind", "sift"}) send(Say::can_do, {function});
    send(Say::grab_job, {});
  }
  ~OtherWorker() override { leave(); }
  OtherWorker(const OtherWorker&) = delete;
  OtherWorker& operator=(const OtherWorker&) = delete;

  /// Disconnects, also with an unfinished job.
  void leave() {
    if (std::exchange(there_, false)) at_.gone(*this);
  }

  void replied(std::string bytes) override {
    while (const auto packet = parse_packet(bytes)) {
      if (packet->type == Say::no_job) send(Say::pre_sleep, {});
      if (packet->type == Say::noop) send(Say::grab_job, {});
      if (packet->type == Say::job_assign) work(packet->arguments(3)[0]);
    }
  }
  void closed() override { there_ = false; }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  void send(Say what, std::initializer_list<std::string_view> arguments) {
    if (there_) at_.received(*this, to_gearmand(what, arguments));
  }
  void work(const std::string& handle) {
    world_.after(random_.between(Duration{0}, Duration(std::chrono::milliseconds(800))),
                 [this, handle] {
                   if (random_.chance(20)) {
                     send(Say::work_fail, {handle});
                   } else {
                     send(Say::work_complete, {handle, "done"});
                   }
                   send(Say::grab_job, {});
                 });
  }

  World& world_;
  Gearmand& at_;
  Random random_;
  const std::string name_ = "worker";
  bool there_ = true;
};

}  // namespace w8y::sim
