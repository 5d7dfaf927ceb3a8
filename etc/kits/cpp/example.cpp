// An executor for w8yd with the kit for C++: counts lines and bytes of a file.
//
//   c++ -std=c++17 -O2 -pthread -o example example.cpp
//
//   [lists.texts]
//   executor = "/opt/acme/bin/example"
//   concurrency = 4
//
// The item is the path of the file.
#include <w8y-executor/executor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

namespace kit = w8y::kit;

namespace {

kit::Object work(kit::Item& item) {
  const std::string& path = item.text();
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos)
    throw kit::Failed("the item is not an absolute path");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw kit::Failed(std::strerror(errno));
  const std::streamoff size = file.tellg();
  file.seekg(0);

  std::intmax_t lines = 0;
  std::intmax_t done = 0;
  std::array<char, 65536> part;
  while (file) {
    file.read(part.data(), part.size());
    lines += std::count(part.data(), part.data() + file.gcount(), '\n');
    done += file.gcount();
    // Throws if the item is cancelled.
    item.progress(static_cast<double>(done), static_cast<double>(std::max(size, done)));
  }
  return kit::Object().add("lines", lines).add("bytes", done);
}

}  // namespace

int main(int argc, char** argv) {
  kit::Options options;
  options.concurrency = 4;
  options.version = "1.0";
  return kit::serve(argc, argv, options, work);
}
