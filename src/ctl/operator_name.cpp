#include "ctl/operator_name.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "core/config.hpp"

namespace w8y::ctl {

std::string operator_name() {
  const char* before_sudo = getuid() == 0 ? std::getenv("SUDO_USER") : nullptr;
  const passwd* account = getpwuid(getuid());
  const std::string who = before_sudo != nullptr && *before_sudo != '\0' ? before_sudo
                          : account != nullptr                           ? account->pw_name
                                                                         : std::to_string(getuid());
  return who + " on " + system_config_host().hostname();
}

}  // namespace w8y::ctl
