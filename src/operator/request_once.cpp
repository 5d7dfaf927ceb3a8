#include "operator/request_once.hpp"

#include "core/sha256.hpp"

namespace w8y::verbs {

store::RequestRecord record_of(const RequestOnce& request, const std::string& prefix) {
  if (request.key.empty()) return {};
  Sha256 hash;
  for (const std::string_view part : request.content) hash.add_part(part);
  return {prefix + request.key, hash.finish_hex(), request.data};
}

}  // namespace w8y::verbs
