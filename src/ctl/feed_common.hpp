// Common parts of the subcommands for feeds, sorted feeds, queues and jobs.
#pragma once

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

/// Sends items and returns their IDs.
using SendItems = std::function<std::vector<std::string>(std::vector<std::string>&&)>;

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
  /// Sends all items of standard input in batches, and prints their IDs. Returns the exit status.
  int send_input(const Options& options, const SendItems& send) const;

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

/// Returns a function for FeedCommand::send_input() that gives each item a new ID and passes all on
/// to `add`.
SendItems with_new_ids(std::function<void(const std::vector<verbs::FeedItem>&)> add);

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
