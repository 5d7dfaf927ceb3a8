// Common parts of the subcommands for feeds, sorted feeds, queues and jobs.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json_object.hpp"
#include "ctl/command.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "operator/feed_access.hpp"

namespace w8y::ctl {

using verbs::FeedKind;

/// Prints IDs and items: each ends in a newline or a NUL, or all are in one JSON document. The
/// document is written in parts, since there may be a million items.
class FeedPrinter {
 public:
  FeedPrinter(const Options& options, bool nul, const std::string& feed);
  ~FeedPrinter();  ///< ends the document
  FeedPrinter(const FeedPrinter&) = delete;
  FeedPrinter& operator=(const FeedPrinter&) = delete;

  void id(const std::string& id);
  void item(const std::string& id, const std::string& item);

 private:
  void entry(core::JsonObject& entry);

  const Options& options_;
  char end_;
  bool first_ = true;
};

/// Results for IDs. JSON has the result of each ID, the text only the errors.
class FeedResults {
 public:
  FeedResults(bool json, std::string feed) : json_(json), feed_(std::move(feed)) {}
  /// `error`: empty if there is none.
  void add(const std::string& id, const std::string& result, const std::string& error);
  /// Prints the results and returns the exit status.
  int end();

 private:
  bool json_;
  std::string feed_;
  core::JsonArray items_;
  std::vector<std::string> errors_;
};

void declare_nul(Arguments& words, bool& into);

/// Subcommand for one feed.
class FeedCommand : public Command {
 public:
  void declare(Arguments& words) final;
  int run(const Options& options, Context& context) final;

 protected:
  /// Declares the arguments after FEED.
  virtual void declare_more(Arguments& words) = 0;
  /// Called when all arguments are known. Throws Failure.
  virtual void check() {}
  virtual int work(const Options& options, Context& context) = 0;

  // Receivers for IDs and items, which may be given in base64.
  [[nodiscard]] Arguments::Take into(std::string& word);
  [[nodiscard]] Arguments::Take into(std::optional<std::string>& word);
  [[nodiscard]] Arguments::Take into(std::deque<std::string>& words);
  [[nodiscard]] verbs::FeedServer server(Context& context) const;

  std::string feed_;
  bool base64_ = false;
  bool nul_ = false;  ///< between items of standard input and of the output

 private:
  std::vector<std::string*> words_;
};

/// Receiver of ITEM: an argument, a file, or lines of standard input.
class FeedItems {
 public:
  /// `name`: "ITEM".
  void declare(Arguments& words, const char* name, const char* what);
  /// Called when all arguments are known. `optional`: ITEM may be missing.
  void check(const char* command, const char* name, bool nul, bool optional = false);

  [[nodiscard]] bool given() const { return word_ || file_ || from_input_; }
  /// Returns whether items are lines of standard input.
  [[nodiscard]] bool many() const { return from_input_; }
  /// Returns the item; empty if items are lines of standard input. Throws Failure.
  [[nodiscard]] std::string one(bool base64, bool nul);

  /// Calls `take` for each item of standard input. False: some items were refused, with a message
  /// for each.
  static bool each(bool base64, bool nul, const std::function<void(std::string&&)>& take);

 private:
  std::optional<std::string> word_;
  std::optional<std::string> file_;
  bool dash_ = false;
  bool from_input_ = false;
};

/// Refuses an ID that the contract's messages cannot contain.
void check_new_id(const std::string& id);

/// Batch of items from standard input. It is sent at 16,000 items or 4 MiB.
template <typename T>
class FeedBatch {
 public:
  using Send = std::function<void(const std::vector<T>&)>;
  explicit FeedBatch(Send send) : send_(std::move(send)) {}

  void add(T&& each, std::size_t bytes) {
    batch_.push_back(std::move(each));
    bytes_ += bytes;
    if (batch_.size() >= 16'000 || bytes_ >= (std::size_t{4} << 20)) flush();
  }
  void flush() {
    if (batch_.empty()) return;
    send_(batch_);
    sent_ += batch_.size();
    batch_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }

 private:
  Send send_;
  std::vector<T> batch_;
  std::size_t bytes_ = 0;
  std::size_t sent_ = 0;
};

Failure failed_after(std::size_t sent, const verbs::RedisError& error);
/// Sends all items of standard input in batches. Returns the exit status.
template <typename T>
int send_input(bool base64, bool nul, FeedBatch<T>& batch,
               const std::function<T(std::string&&)>& make) {
  bool all = true;
  try {
    all = FeedItems::each(base64, nul, [&](std::string&& item) {
      const std::size_t bytes = item.size();
      batch.add(make(std::move(item)), bytes);
    });
    batch.flush();
  } catch (const verbs::RedisError& error) {
    throw failed_after(batch.sent(), error);
  }
  return all ? done : refused;
}

/// Returns the first members of the JSON of an item: its feed and its ID.
core::AsciiObject id_json(const std::string& feed, const std::string& id);

// Output of subcommands for one ID.
/// Prints a value of the item, as text or as the member `name` of the JSON.
int print_value(const Options& options, const std::string& feed, const std::string& id,
                const char* name, const std::string& value, bool nul);
int print_id(const Options& options, const std::string& feed, const std::string& id, bool nul);
int print_done(const Options& options, const std::string& feed, const std::string& id,
               const char* result);
Failure not_there(const std::string& id, const std::string& feed);

}  // namespace w8y::ctl
