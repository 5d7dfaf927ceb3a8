// An executor for w8yd in C++: the CRC-32 of a file.
//
//   c++ -std=c++17 -O2 -o checksum checksum.cpp
//
//   [lists.files]
//   executor = "/opt/acme/bin/checksum"
//   cooldown = "1d"
//
// The item is the path of the file. w8yd calls
//
//   checksum --caps              to read the capabilities, one JSON object;
//   checksum NAME ID LENGTH      to run one item of LENGTH bytes on standard input.
//
// The code above the line "the work" is the same for every executor.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

/// The run has failed because of its item. The text is the reason.
struct ItemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The run was asked to stop.
struct Stopped {};

volatile std::sig_atomic_t told_to_end = 0;

std::string work(const std::string& item);

/// Sends a message: one line of standard output. It flushes the line at once, because progress in a
/// buffer does not count as progress. The texts here need no escapes. To put other text into JSON,
/// use a JSON library.
void say(const std::string& json) {
  std::cout << json << std::endl;
}

/// Reports progress, at most four times per second; you can call it more often. Throws if the run
/// was asked to stop.
void progress(std::uintmax_t numerator, std::uintmax_t denominator) {
  using clock = std::chrono::steady_clock;
  static clock::time_point last;
  if (told_to_end != 0) throw Stopped{};
  const auto now = clock::now();
  if (now - last < std::chrono::milliseconds(250)) return;
  last = now;
  say("{\"type\":\"progress\",\"numerator\":" + std::to_string(numerator) +
      ",\"denominator\":" + std::to_string(denominator) + "}");
}

std::string read_item(std::size_t length) {
  std::string item;
  std::array<char, 4096> part;
  // Read in parts: the memory grows with the bytes received, not with LENGTH.
  while (item.size() < length) {
    const std::size_t wanted = std::min(part.size(), length - item.size());
    const std::size_t got = std::fread(part.data(), 1, wanted, stdin);
    if (got == 0) throw ItemError("the item is shorter than LENGTH");
    item.append(part.data(), got);
  }
  return item;
}

/// Catches SIGTERM. w8yd sends it at a timeout, a shutdown or a cancel, and SIGKILL after
/// `kill_grace`. Without SA_RESTART, the signal also interrupts a blocked read.
void watch_sigterm() {
  struct sigaction action {};
  action.sa_handler = [](int) { told_to_end = 1; };
  sigaction(SIGTERM, &action, nullptr);
}

int run(const char* length_text) {
  std::size_t length = 0;
  const char* end = length_text + std::strlen(length_text);
  const auto parsed = std::from_chars(length_text, end, length);
  if (parsed.ec != std::errc() || parsed.ptr != end) return 2;
  watch_sigterm();
  try {
    // w8yd stores all members except "type" as the result of the run.
    say("{\"type\":\"complete\"," + work(read_item(length)) + "}");
  } catch (const ItemError& error) {
    if (told_to_end != 0) return 128 + SIGTERM;  // the signal interrupted the read
    // Exit status 0 and an "error" mean failed. Any other exit status, or a signal, means crashed.
    say(std::string("{\"type\":\"complete\",\"error\":\"") + error.what() + "\"}");
  } catch (const Stopped&) {
    // w8yd knows why it stopped the run, and ignores this status.
    return 128 + SIGTERM;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--caps") == 0) {
    say(R"({"type":"caps","caps":["single"],"version":"1.0"})");
    return 0;
  }
  if (argc == 4) {
    if (const int status = run(argv[3]); status != 2) return status;
  }
  // w8yd logs standard error, and stores its end in the record of a failed run.
  std::cerr << "usage: checksum --caps | NAME ID LENGTH\n";
  return 2;
}

// ---- the work

namespace {

class Crc32 {
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      state_ = table()[(state_ ^ static_cast<unsigned char>(bytes[i])) & 0xffU] ^ (state_ >> 8U);
  }
  std::string hex() const {
    std::array<char, 9> text;
    std::snprintf(text.data(), text.size(), "%08x", static_cast<unsigned>(~state_));
    return text.data();
  }

 private:
  using Table = std::array<std::uint32_t, 256>;
  static const Table& table() {
    static const Table all = [] {
      Table made{};
      for (std::uint32_t i = 0; i < made.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
          value = (value & 1U) != 0 ? 0xedb88320U ^ (value >> 1U) : value >> 1U;
        made[i] = value;
      }
      return made;
    }();
    return all;
  }
  std::uint32_t state_ = 0xffffffffU;
};

/// Returns the members of the result, without braces.
std::string work(const std::string& item) {
  if (item.empty() || item.front() != '/' || item.find('\0') != std::string::npos)
    throw ItemError("the item is not an absolute path");
  std::ifstream file(item, std::ios::binary | std::ios::ate);
  if (!file) throw ItemError(std::strerror(errno));
  const std::streamoff end = file.tellg();
  if (end < 0) throw ItemError("the item is not a file with a size");
  const auto size = static_cast<std::uintmax_t>(end);
  file.seekg(0);

  Crc32 crc;
  std::uintmax_t done = 0;
  std::array<char, 65536> part;
  while (done < size && file) {
    progress(done, size);
    file.read(part.data(), part.size());
    const auto got = static_cast<std::size_t>(file.gcount());
    crc.add(part.data(), got);
    done += got;
  }
  if (done < size) throw ItemError("cannot read the whole file");
  return "\"crc32\":\"" + crc.hex() + "\",\"bytes\":" + std::to_string(done);
}

}  // namespace
