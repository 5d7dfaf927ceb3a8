// A gearmand of a test's own, and clients that give it work.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace w8y::gearman::test {

/// To a port of this host: a descriptor, or -1.
int connect_to(int port);

class Gearmand {
 public:
  /// More options of gearmand.
  explicit Gearmand(std::vector<std::string> options = {});
  ~Gearmand();
  Gearmand(const Gearmand&) = delete;
  Gearmand& operator=(const Gearmand&) = delete;

  /// Whether Debian's gearmand and its client are here.
  static bool is_here();
  void start();
  void kill(int number = SIGKILL);
  [[nodiscard]] int port() const { return port_; }
  /// A line of `gearadmin --status` for a function: "total running workers".
  [[nodiscard]] std::string counts(const std::string& function) const;

 private:
  w8y::test::TempDir directory_;
  std::vector<std::string> options_;
  int port_ = 0;
  pid_t pid_ = -1;
};

/// `gearman -f FUNCTION ARGUMENTS…` beside the test, its output in a file.
class GearmanClient {
 public:
  GearmanClient(const Gearmand& server, std::vector<std::string> arguments, std::string input = {});
  ~GearmanClient();
  GearmanClient(const GearmanClient&) = delete;
  GearmanClient& operator=(const GearmanClient&) = delete;
  [[nodiscard]] bool ended();
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::string output() const;

 private:
  w8y::test::TempDir directory_;
  pid_t pid_ = -1;
  int status_ = -1;
};

}  // namespace w8y::gearman::test
