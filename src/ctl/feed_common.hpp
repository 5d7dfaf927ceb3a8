// What commands about feeds, sorted feeds, queues and jobs have in common.
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

/// Prints IDs and items, a line each or with a NUL behind each, or as one JSON document. That one
/// is written piece by piece, since there may be a million of them.
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

/// What became of ids: programs see it of each, people what went wrong.
class FeedResults {
 public:
  FeedResults(bool json, std::string feed) : json_(json), feed_(std::move(feed)) {}
  /// `error`: empty, if all is well.
  void add(const std::string& id, const std::string& result, const std::string& error);
  /// Prints it, and returns the exit status.
  int end();

 private:
  bool json_;
  std::string feed_;
  core::JsonArray items_;
  std::vector<std::string> errors_;
};

void declare_nul(Arguments& words, bool& into);

/// A command about one feed.
class FeedCommand : public Command {
 public:
  void declare(Arguments& words) final;
  int run(const Options& options, Context& context) final;

 protected:
  /// Its words behind FEED.
  virtual void declare_more(Arguments& words) = 0;
  /// When all words are known. Throws Failure.
  virtual void check() {}
  virtual int work(const Options& options, Context& context) = 0;

  // Words for ids and items, which may be given in base64.
  [[nodiscard]] Arguments::Take into(std::string& word);
  [[nodiscard]] Arguments::Take into(std::optional<std::string>& word);
  [[nodiscard]] Arguments::Take into(std::deque<std::string>& words);
  [[nodiscard]] std::string bytes_of(std::string&& word) const;
  [[nodiscard]] verbs::FeedServer server(Context& context) const;

  std::string feed_;
  bool base64_ = false;
  bool nul_ = false;  ///< of what is read from standard input, and of what is printed

 private:
  std::vector<std::string*> words_;
};

/// ITEM: an argument, a file, or lines of standard input.
class FeedItems {
 public:
  /// `name`: "ITEM".
  void declare(Arguments& words, const char* name, const char* what);
  /// When all words are taken. `optional`: there may be none.
  void check(const char* command, const char* name, bool nul, bool optional = false);

  [[nodiscard]] bool given() const { return word_ || file_ || from_input_; }
  /// Lines of standard input.
  [[nodiscard]] bool many() const { return from_input_; }
  /// The item; of several lines, none. Throws Failure.
  [[nodiscard]] std::string one(const std::function<std::string(std::string&&)>& bytes_of,
                                bool nul);

  /// Each item of standard input. False: some were refused, and that was told.
  static bool each(bool base64, bool nul, const std::function<void(std::string&&)>& take);

 private:
  std::optional<std::string> word_;
  std::optional<std::string> file_;
  bool dash_ = false;
  bool from_input_ = false;
};

/// Ids are told in each answer and each message.
inline constexpr std::size_t max_id = std::size_t{64} << 10;
/// Refuses one that the contract's messages can't carry.
void check_new_id(const std::string& id);

/// A batch of what comes from standard input, sent when it is large enough to be worth it.
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
/// All of standard input. Returns the exit status.
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

/// The beginning of the JSON of one item: its feed and its id.
core::AsciiObject id_json(const std::string& feed, const std::string& id);

// How commands about one id end.
/// Prints a value of the item, as text or as the member `name` of its JSON.
int print_value(const Options& options, const std::string& feed, const std::string& id,
                const char* name, const std::string& value, bool nul);
int print_id(const Options& options, const std::string& feed, const std::string& id, bool nul);
int print_done(const Options& options, const std::string& feed, const std::string& id,
               const char* result);
Failure not_there(const std::string& id, const std::string& feed);

}  // namespace w8y::ctl
