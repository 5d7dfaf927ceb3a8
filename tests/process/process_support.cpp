#include "process_support.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace w8y::test {

void Recorder::on_output(process::Stream stream, std::string_view piece) {
  bytes += piece.size();
  largest_piece = std::max(largest_piece, piece.size());
  if (keep) (stream == process::Stream::out ? out : err) += piece;
}

void Recorder::on_ended(ProcessEnd process_end) {
  if (end) throw std::logic_error("ended twice");
  end = std::move(process_end);
}

int Result::code() const {
  const auto* exited = std::get_if<Exited>(&end);
  return exited == nullptr ? -1 : exited->code;
}

Result run(process::ChildOptions options) {
  loop::Loop loop;
  Recorder recorder;
  process::Child child(loop, std::move(options), recorder);
  if (!turn_until(loop, [&] { return recorder.end.has_value(); }))
    throw std::runtime_error("the child did not end");
  return {recorder.out, recorder.err, *recorder.end};
}

Result run(const std::vector<std::string>& argv) {
  return run(command(argv));
}

process::ChildOptions command(const std::vector<std::string>& argv) {
  process::ChildOptions options;
  options.spawn.program = argv.front();
  options.spawn.argv = argv;
  options.spawn.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  return options;
}

process::ChildOptions sh(const std::string& script) {
  return command({"/bin/sh", "-c", script});
}

std::string field(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (line.compare(0, name.size() + 1, name + ':') != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t", name.size() + 1);
    const std::size_t end = line.find_last_not_of(" \t");
    return start == std::string::npos ? "" : line.substr(start, end - start + 1);
  }
  return "(none)";
}

std::uint64_t ignored_signals() {
  return std::stoull(field(read_file("/proc/self/status"), "SigIgn"), nullptr, 16);
}

bool alive(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  return !status.empty() && field(status, "State").front() != 'Z';
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t resident() {
  return std::stoul(field(read_file("/proc/self/status"), "VmRSS")) * 1024;
}

NoDescriptors::NoDescriptors(std::size_t spare) {
  for (;;) {
    Fd fd(dup(0));
    if (!fd) break;
    all_.push_back(std::move(fd));
  }
  all_.resize(all_.size() - spare);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace w8y::test
