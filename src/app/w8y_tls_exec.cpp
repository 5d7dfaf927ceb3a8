// TLS in the program w8y.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "app/w8y_tls.hpp"

namespace w8y::app {

void prepare_tls(char** argv) {
  // In the same directory in a build directory, otherwise where it is installed.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string twin = self.parent_path() / "w8y-tls";
  if (error || access(twin.c_str(), X_OK) != 0) twin = W8Y_LIBEXEC_DIR "/w8y-tls";
  execv(twin.c_str(), argv);
  throw std::runtime_error("the Redis URL needs TLS; install " + twin + ": " +
                           std::strerror(errno));
}

}  // namespace w8y::app
