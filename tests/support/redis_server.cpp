#include "support/redis_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace w8y::test {

namespace {

/// Time limit for a reply, long enough for a busy server on a busy machine.
constexpr timeval answer_limit = {60, 0};

bool is_free(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return free;
}

std::string flatten(const redisReply* reply) {
  if (reply == nullptr) return "(no reply)";
  switch (reply->type) {
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply->integer);
    case REDIS_REPLY_ARRAY: {
      std::string all;
      for (std::size_t i = 0; i < reply->elements; ++i)
        all += (i == 0 ? "" : "\n") + flatten(reply->element[i]);
      return all;
    }
    default:
      return {reply->str, reply->len};
  }
}

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

std::string command_over(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> args;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    args.push_back(word.data());
    lengths.push_back(word.size());
  }
  const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), args.data(), lengths.data())));
  return flatten(reply.get());
}

}  // namespace

int free_port() {
  // Below the ports that the kernel gives to clients, with the port of a cluster's bus.
  constexpr int first = 11'000;
  constexpr int count = 11'000;
  constexpr int to_bus = 10'000;
  static std::mt19937 random{std::random_device{}()};
  for (;;) {
    const int port = first + static_cast<int>(random() % count);
    if (is_free(port) && is_free(port + to_bus)) return port;
  }
}

RedisServer::RedisServer() : RedisServer(Options{}) {}

RedisServer::RedisServer(Options options) : options_(std::move(options)) {
  if (options_.tcp) port_ = free_port();
  write_config();
  start();
}

RedisServer::~RedisServer() {
  kill();
}

void RedisServer::write_config() const {
  std::ofstream file(dir_ / "redis.conf");
  file << "unixsocket " << socket() << "\nport " << port_ << "\nbind 127.0.0.1\ndir " << dir_.path()
       << "\nlogfile " << dir_ / "redis.log"
       << "\ndaemonize no\nsave \"\"\nappendonly no\nenable-debug-command yes\n";
  if (!options_.password.empty()) file << "requirepass \"" << options_.password << "\"\n";
  for (const std::string& line : options_.config) file << line << "\n";
}

void RedisServer::start(bool until_loaded) {
  if (pid_ > 0) throw std::logic_error("the server is running");
  const std::string config = dir_ / "redis.conf";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int null = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    execlp("redis-server", "redis-server", config.c_str(),
           options_.sentinel ? "--sentinel" : static_cast<const char*>(nullptr), nullptr);
    _exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_up(until_loaded)) {
    const bool gone = waitpid(pid_, nullptr, WNOHANG) == pid_;
    if (gone) pid_ = -1;
    if (gone || std::chrono::steady_clock::now() > limit) {
      kill();
      std::ifstream log(dir_ / "redis.log");
      throw std::runtime_error("redis-server does not answer: " +
                               std::string(std::istreambuf_iterator<char>(log), {}));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool RedisServer::is_up(bool until_loaded) const {
  const std::string answer = command({"PING"});
  if (answer == "(no reply)") return false;
  return !until_loaded || !answer.starts_with("LOADING");
}

std::string RedisServer::command(const std::vector<std::string>& words) const {
  const std::unique_ptr<redisContext, Free> context(
      redisConnectUnixWithTimeout(socket().c_str(), answer_limit));
  if (!context || context->err != 0) return "(no reply)";
  redisSetTimeout(context.get(), answer_limit);
  if (!options_.password.empty()) command_over(context.get(), {"AUTH", options_.password});
  return command_over(context.get(), words);
}

long long RedisServer::info(const std::string& field) const {
  const std::string text = info_text(field);
  if (text.empty()) throw std::runtime_error("no " + field + " in INFO");
  return std::atoll(text.c_str());
}

long long RedisServer::calls(const std::string& command) const {
  const std::string stats = info_text("cmdstat_" + command);  // calls=9,usec=…
  return stats.empty() ? 0 : std::stoll(stats.substr(stats.find('=') + 1));
}

std::string RedisServer::info_text(const std::string& field) const {
  const std::string all = "\n" + command({"INFO", "everything"});
  const auto found = all.find("\n" + field + ":");
  if (found == std::string::npos) return {};
  const auto begin = found + field.size() + 2;
  return all.substr(begin, all.find('\r', begin) - begin);
}

void RedisServer::reap() {
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void RedisServer::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  reap();
}

void RedisServer::pause() {
  ::kill(pid_, SIGSTOP);
  waitpid(pid_, nullptr, WUNTRACED);
}

void RedisServer::resume() {
  ::kill(pid_, SIGCONT);
}

std::string RedisServer::url() const {
  return "unix://" + socket();
}

std::string RedisServer::tcp_url() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

PublishedMessages::PublishedMessages(const RedisServer& server)
    : context_(redisConnectUnixWithTimeout(server.socket().c_str(), answer_limit), redisFree) {
  redisSetTimeout(context_.get(), answer_limit);
  command_over(context_.get(), {"PSUBSCRIBE", "*"});
}

std::pair<std::string, std::string> PublishedMessages::next() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) throw std::runtime_error(context_->errstr);
  const std::unique_ptr<redisReply, Free> message(static_cast<redisReply*>(reply));
  return {flatten(message->element[2]), flatten(message->element[3])};
}

}  // namespace w8y::test
