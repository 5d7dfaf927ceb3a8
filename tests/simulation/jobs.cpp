#include "simulation/jobs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace w8y::sim {

namespace {

bool write_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int descriptor, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t got = read(descriptor, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Child process that runs every `jobs`th seed. It blocks until its records are read.
class Worker {
 public:
  Worker(const Seeds& seeds, unsigned number,
         const std::function<std::string(std::uint64_t)>& run) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe: no descriptors are left");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork: no processes are left");
    if (pid_ == 0) {
      close(ends[0]);
      for (std::uint64_t i = number; i < seeds.count; i += seeds.jobs) {
        const std::string record = run(seeds.first + i);
        const std::size_t size = record.size();
        if (!write_all(ends[1], reinterpret_cast<const char*>(&size), sizeof size) ||
            !write_all(ends[1], record.data(), size))
          break;
      }
      _exit(0);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Worker() {
    close(from_);
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns the record of its next seed, which is `seed`.
  std::string next(std::uint64_t seed) {
    std::size_t size = 0;
    std::string record;
    bool whole = read_all(from_, reinterpret_cast<char*>(&size), sizeof size);
    if (whole) {
      record.resize(size);
      whole = read_all(from_, record.data(), size);
    }
    if (!whole)
      throw std::runtime_error("the process that ran the seed " + std::to_string(seed) +
                               " ended before the seed did: run this seed alone");
    return record;
  }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
};

}  // namespace

void for_each_seed(const Seeds& seeds, const std::function<std::string(std::uint64_t)>& run,
                   const std::function<bool(std::uint64_t, const std::string&)>& take) {
  const auto jobs = static_cast<unsigned>(std::min<std::uint64_t>(seeds.jobs, seeds.count));
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; jobs > 1 && i < jobs; ++i)
    workers.push_back(std::make_unique<Worker>(Seeds{seeds.first, seeds.count, jobs}, i, run));
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::uint64_t seed = seeds.first + i;
    if (!take(seed, jobs > 1 ? workers[i % jobs]->next(seed) : run(seed))) return;
  }
}

}  // namespace w8y::sim
