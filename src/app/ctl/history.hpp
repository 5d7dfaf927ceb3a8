// Finished runs, as they stand in `P runs` (w8y-keys(7); written by run_record).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/item.hpp>

#include "ops/status_json.hpp"
#include "redis/sync.hpp"

namespace w8y::app::ctl {

struct FinishedRun {
  std::string list;
  std::string entry;                          ///< its id in the stream
  std::map<std::string, std::string> fields;  ///< as they stand there

  [[nodiscard]] const std::string& field(const char* name) const;
  [[nodiscard]] ShownItem item() const;
  [[nodiscard]] WallTime time(const char* name) const;
  /// When it came into the stream, by Redis's clock.
  [[nodiscard]] WallTime entered() const;
  [[nodiscard]] std::string took_text() const;
};

/// The same fields: bytes that are no UTF-8 as *_base64, times as *_ms, the result as JSON,
/// `exit` a number or `signal` a name.
ops::Json to_json(const FinishedRun& run);

/// Walks back through the history of one list, or of many merged by time.
class History {
 public:
  History(redis::SyncClient& client, const std::vector<std::string>& prefixes);

  /// The next older run; false: there is none.
  bool next(FinishedRun& run);

 private:
  /// Where we are in one stream.
  struct Reader {
    std::string list;
    std::string key;
    std::string before = "+";
    std::vector<FinishedRun> page;  ///< the newest last
    bool at_end = false;
  };
  void fill();

  redis::SyncClient& client_;
  std::vector<Reader> readers_;
};

}  // namespace w8y::app::ctl
