#include "gearmand.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace w8y::gearman::test {

namespace {

constexpr const char* server_program = "/usr/sbin/gearmand";
constexpr const char* client_program = "/usr/bin/gearman";

/// Runs in its own process group, and is killed when the test exits.
pid_t run_apart(const std::vector<std::string>& words, int in, int out) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

bool Gearmand::is_here() {
  return access(server_program, X_OK) == 0 && access(client_program, X_OK) == 0;
}

Gearmand::Gearmand(std::vector<std::string> options)
    : options_(std::move(options)), port_(w8y::test::free_port()) {
  start();
}

Gearmand::~Gearmand() {
  kill();
}

void Gearmand::start() {
  std::vector<std::string> words = {
      server_program, "--listen=127.0.0.1", "--port=" + std::to_string(port_),
      "--log-file=" + (directory_ / "log"), "--pid-file=" + (directory_ / "pid")};
  if (getuid() == 0) words.push_back("--user=root");
  words.insert(words.end(), options_.begin(), options_.end());
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  pid_ = run_apart(words, null, null);
  close(null);
  w8y::test::wait_until("gearmand", [this] {
    const int fd = connect_to(port_);
    if (fd >= 0) close(fd);
    return fd >= 0;
  });
}

void Gearmand::kill(int number) {
  if (pid_ <= 0) return;
  ::kill(-pid_, number);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string Gearmand::counts(const std::string& function) const {
  const int fd = connect_to(port_);
  if (fd < 0) return {};
  const std::string ask = "status\n";
  std::string said;
  if (write(fd, ask.data(), ask.size()) > 0) {
    char bytes[4096];
    for (ssize_t count = 0;
         said.find(".\n") == std::string::npos && (count = read(fd, bytes, sizeof bytes)) > 0;)
      said.append(bytes, static_cast<std::size_t>(count));
  }
  close(fd);
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(function + "\t")) {
      line.erase(0, function.size() + 1);
      for (char& c : line)
        if (c == '\t') c = ' ';
      return line;
    }
  return {};
}

GearmanClient::GearmanClient(const Gearmand& server, std::vector<std::string> arguments,
                             std::string input) {
  std::ofstream(directory_ / "in", std::ios::binary) << input;
  const int in = open((directory_ / "in").c_str(), O_RDONLY | O_CLOEXEC);
  const int out = open((directory_ / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  std::vector<std::string> words = {client_program, "-h", "127.0.0.1", "-p",
                                    std::to_string(server.port())};
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_ = run_apart(words, in, out);
  close(in);
  close(out);
}

GearmanClient::~GearmanClient() {
  if (ended()) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool GearmanClient::ended() {
  if (pid_ <= 0) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = -1;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return true;
}

std::string GearmanClient::output() const {
  std::ifstream file(directory_ / "out", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace w8y::gearman::test
