#include "core/status_token.hpp"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/trusted_path.hpp"

namespace w8y {

namespace {

/// Minimum length. 128 random bits in hex have 32 characters; half of that is still not guessable.
constexpr std::size_t shortest = 16;
constexpr std::size_t max_file = 4096;

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

Digest digest_of(std::string_view text) {
  sha256_ctx context{};
  nettle_sha256_init(&context);
  nettle_sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  Digest digest{};
  nettle_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

std::string problem_of(std::string_view token) {
  if (token.empty()) return "has no token in its first line; `openssl rand -hex 32` makes one";
  if (token.size() < shortest)
    return "has a token of " + std::to_string(token.size()) + " bytes; must be at least " +
           std::to_string(shortest) + " (`openssl rand -hex 32` makes one)";
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; }))
    return "has a token with a blank, a control character or a letter that is not ASCII; must have "
           "none";
  return {};
}

}  // namespace

StatusToken read_status_token(const std::string& path) {
  StatusToken result;
  const TrustedFile file = open_own(path);
  result.problem = file.problem;
  result.denied = file.error == EACCES && geteuid() != 0;
  std::string text;
  if (result.problem.empty() && read_all(file, max_file, text, result.problem)) {
    std::string_view line(text);
    line = line.substr(0, line.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    result.problem = problem_of(line);
    if (result.problem.empty()) result.token = line;
  }
  wipe(text);
  return result;
}

bool same_secret(std::string_view one, std::string_view other) {
  const Digest first = digest_of(one);
  const Digest second = digest_of(other);
  return nettle_memeql_sec(first.data(), second.data(), first.size()) != 0;
}

}  // namespace w8y
