#include "core/job_code.hpp"

namespace w8y {

std::string_view code_of(std::string_view job) {
  const auto colon = job.rfind(':');
  return colon == std::string_view::npos ? job : job.substr(colon + 1);
}

std::string code_error(std::string_view code) {
  // The same check as in parts/enqueue.lua.
  if (code == "members" || code.ends_with("-members"))
    return "a queue with this code would share a key with another queue; it must not end "
           "in 'members'";
  const auto middle = code.size() / 2;
  if (code.size() % 2 == 1 && code[middle] == '-' &&
      code.substr(0, middle) == code.substr(middle + 1))
    return "a queue with this code would share a key with a claimed job; it must be another code";
  return {};
}

}  // namespace w8y
