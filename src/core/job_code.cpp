#include "core/job_code.hpp"

namespace w8y {

std::string_view code_of(std::string_view job) {
  const auto colon = job.rfind(':');
  return colon == std::string_view::npos ? job : job.substr(colon + 1);
}

std::string code_error(std::string_view code) {
  // The same check as in parts/enqueue.lua.
  if (code == "members" || code.ends_with("-members"))
    return "the key of a queue of this code would be that of what is in another queue; it must be "
           "a code "
           "that does not end in 'members'";
  const auto middle = code.size() / 2;
  if (code.size() % 2 == 1 && code[middle] == '-' &&
      code.substr(0, middle) == code.substr(middle + 1))
    return "the key of a queue of this code would be that of a job which is worked on; it must be "
           "another code";
  return {};
}

}  // namespace w8y
