// Entries with fields for the journal, in its native protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fd.hpp"

namespace w8y::ops {

/// Where journald receives entries.
inline constexpr const char* journal_socket = "/run/systemd/journal/socket";

/// Fields of an entry except its message: names of the journal, and values of any bytes.
using JournalFields = std::vector<std::pair<std::string_view, std::string>>;

/// Returns an entry. A value cannot imitate another field, because each value has its length.
std::string journal_entry(int priority, std::string_view message, const JournalFields& fields);

/// Sends entries to journald. sd_journal_sendv() sends the same bytes, but it waits without a limit
/// while journald is stopped, and the loop of w8yd must not wait.
class JournalSocket {
 public:
  enum class Sent : std::uint8_t {
    yes,
    busy,        ///< journald does not read
    impossible,  ///< no journald at this path, or the entry is too long
  };

  explicit JournalSocket(std::string path);

  /// Waits at most this time for journald. Connects again if journald has been restarted.
  [[nodiscard]] Sent send(std::string_view entry, int timeout_ms);

 private:
  [[nodiscard]] bool connect();

  std::string path_;
  Fd fd_;
};

}  // namespace w8y::ops
