#include "ctl/feed_common.hpp"

#include <unistd.h>

#include <iostream>

#include "core/escape.hpp"
#include "core/item.hpp"
#include "ctl/commands.hpp"
#include "ctl/item_stream.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/job_feeds.hpp"
#include "operator/random_ids.hpp"
#include "view/kinds.hpp"

namespace w8y::ctl {

// ---- output

FeedPrinter::FeedPrinter(const Options& options, bool nul, const std::string& feed)
    : options_(options), end_(nul ? '\0' : '\n') {
  if (!options_.json) return;
  core::AsciiObject head;
  head.put_bytes("feed", feed);
  std::string text = head.finish();
  text.pop_back();
  std::cout << text << ",\"items\":[";
}

FeedPrinter::~FeedPrinter() {
  if (options_.json) std::cout << "]}\n";
}

void FeedPrinter::entry(core::JsonObject& entry) {
  if (!first_) std::cout << ',';
  first_ = false;
  std::cout << entry.finish();
}

void FeedPrinter::id(const std::string& id) {
  if (!options_.json) {
    std::cout << record_text(options_, id) << end_;
    return;
  }
  core::AsciiObject one;
  one.put_bytes("id", id);
  entry(one);
}

void FeedPrinter::item(const std::string& id, const std::string& item) {
  if (!options_.json) {
    std::cout << record_text(options_, id) << '\t' << record_text(options_, item) << end_;
    return;
  }
  core::AsciiObject one;
  one.put_bytes("id", id);
  one.put_bytes("item", item);
  entry(one);
}

void FeedResults::add(const std::string& id, const std::string& result, const std::string& error) {
  core::AsciiObject one;
  one.put_bytes("id", id);
  one.put_bytes("result", result);
  one.put("done", error.empty());
  items_.add(one.finish());
  if (!error.empty()) errors_.push_back(error);
}

int FeedResults::end() {
  if (json_) {
    core::AsciiObject json;
    json.put_bytes("feed", feed_);
    json.put_json("items", items_.finish());
    print_json(json.finish());
  }
  for (const auto& error : errors_) complain(error);
  return errors_.empty() ? done : refused;
}

// ---- subcommands

void declare_feeds(Arguments& words, Options& options) {
  words.flag("--base64", "IDs and items are given in base64", options.base64);
  words.flag("--feed-base64", "FEED is given in base64", options.feed_base64);
  declare_raw(words, options);
}

void declare_nul(Arguments& words, bool& into) {
  words.flag("-0,--null", "A NUL byte ends each item and ID, not a newline", into);
}

void FeedCommand::declare(Arguments& words) {
  declare_nul(words, nul_);
  words.one("FEED", "The feed", feed_);
  declare_more(words);
}

int FeedCommand::run(const Options& options, Context& context) {
  base64_ = options.base64;
  if (options.feed_base64) feed_ = decoded(std::move(feed_), "--feed-base64");
  if (base64_)
    for (std::string* word : words_) *word = decoded(std::move(*word));
  try {
    check();
    return work(options, context);
  } catch (const verbs::FeedMissing& why) {
    const verbs::KnownLists* lists = context.lists();
    const auto list = lists == nullptr ? std::nullopt : lists->find(feed_);
    const std::string noun = list ? view::view_of(*list->kind).list : "feed";
    if (noun == "feed") throw Failure(refused, why.what());
    throw Failure(
        refused,
        "there is no feed " + escape_text(feed_) + ", but a " + noun + " of this name" +
            (list->kind->in_redis ? "; to see its items: w8yctl items " + shell_argument(feed_)
                                  : ""));
  } catch (const verbs::FeedRefused& why) {
    throw Failure(refused, why.what());
  }
}

Arguments::Take FeedCommand::into(std::string& word) {
  return [this, &word](Argument&& given) {
    word = std::move(given.text);
    words_.push_back(&word);
  };
}

Arguments::Take FeedCommand::into(std::optional<std::string>& word) {
  return [this, &word](Argument&& given) {
    word = std::move(given.text);
    words_.push_back(&*word);
  };
}

Arguments::Take FeedCommand::into(std::deque<std::string>& words) {
  return [this, &words](Argument&& given) {
    words_.push_back(&words.emplace_back(std::move(given.text)));
  };
}

verbs::FeedServer FeedCommand::server(Context& context) const {
  verbs::FeedServer server = verbs::feed_server(context.connection(), feed_);
  server.by = operator_name();
  return server;
}

// ---- items

void FeedItems::declare(Arguments& words, const char* name, const char* what) {
  words.one_or_none(name, what, [this](Argument&& word) {
    dash_ = word.text == "-" && !word.literal;
    word_ = std::move(word.text);
  });
  words.option("--file", "PATH", "a file", "Read the content from a file ('-': standard input)",
               file_);
}

void FeedItems::check(const char* command, const char* name, bool nul, bool optional) {
  if (word_ && file_) throw Failure(wrong_usage, std::string("use either --file or ") + name);
  from_input_ = dash_ || (nul && !word_ && !file_ && !optional);
  if (!given() && !optional)
    throw Failure(wrong_usage, std::string(command) + " needs " + name + ", or --file");
}

std::string FeedItems::one(bool base64, bool nul) {
  if (file_) return read_file(*file_, max_item);
  const auto bytes_of = [base64](std::string&& word) {
    return base64 ? decoded(std::move(word)) : std::move(word);
  };
  if (!from_input_) return bytes_of(std::string(*word_));
  ItemStream lines(STDIN_FILENO, nul ? '\0' : '\n', max_item, true);
  auto line = lines.next();
  if (!line || lines.next())
    throw Failure(wrong_usage, std::string("standard input has ") + (line ? "several" : "no") +
                                   " items, but one is needed; --file - reads all of it as one");
  if (line->too_long) throw Failure(refused, "standard input is " + too_long_text());
  return bytes_of(std::move(line->item));
}

bool FeedItems::each(bool base64, bool nul, const std::function<void(std::string&&)>& take) {
  ItemStream lines(STDIN_FILENO, nul ? '\0' : '\n', base64 ? 2 * max_item : max_item, true);
  bool all = true;
  while (auto line = lines.next()) {
    if (accepts(*line, base64, "skipped"))
      take(std::move(line->item));
    else
      all = false;
  }
  return all;
}

int FeedCommand::send_input(const Options& options, const SendItems& send) const {
  constexpr std::size_t max_items = 16'000;  // of a batch
  constexpr std::size_t max_bytes = std::size_t{4} << 20;
  FeedPrinter printer(options, nul_, feed_);
  std::vector<std::string> batch;
  std::size_t bytes = 0;
  std::size_t sent = 0;
  const auto flush = [&] {
    if (batch.empty()) return;
    const std::size_t count = batch.size();
    for (const std::string& id : send(std::exchange(batch, {}))) printer.id(id);
    sent += count;
    bytes = 0;
  };
  try {
    const bool all = FeedItems::each(base64_, nul_, [&](std::string&& item) {
      bytes += item.size();
      batch.push_back(std::move(item));
      if (batch.size() >= max_items || bytes >= max_bytes) flush();
    });
    flush();
    return all ? done : refused;
  } catch (const verbs::RedisError& error) {
    const bool lost = verbs::is_unreachable(error);
    throw redis_failure(
        !lost, error.what(),
        {std::to_string(sent) + " items are in the feed" +
         (lost ? "; some of the later items may be in it, too" : "; no later item is in it")});
  }
}

SendItems with_new_ids(std::function<void(const std::vector<verbs::FeedItem>&)> add) {
  return [add = std::move(add),
          new_ids = verbs::RandomIds()](std::vector<std::string>&& items) mutable {
    std::vector<verbs::FeedItem> named;
    std::vector<std::string> ids;
    for (std::string& item : items)
      named.emplace_back(ids.emplace_back(new_ids.next()), std::move(item));
    add(named);
    return ids;
  };
}

// ---- output for one ID

core::AsciiObject id_json(const std::string& feed, const std::string& id) {
  core::AsciiObject json;
  json.put_bytes("feed", feed);
  json.put_bytes("id", id);
  return json;
}

int print_id(const Options& options, const std::string& feed, const std::string& id, bool nul) {
  if (options.json)
    print_json(id_json(feed, id).finish());
  else
    std::cout << record_text(options, id) << (nul ? '\0' : '\n');
  return done;
}

int print_value(const Options& options, const std::string& feed, const std::string& id,
                const char* name, const std::string& value, bool nul) {
  if (!options.json) return print_id(options, feed, value, nul);
  core::AsciiObject json = id_json(feed, id);
  json.put_bytes(name, value);
  print_json(json.finish());
  return done;
}

int print_done(const Options& options, const std::string& feed, const std::string& id,
               const char* result) {
  if (!options.json) return done;
  core::AsciiObject json = id_json(feed, id);
  json.put("result", result);
  print_json(json.finish());
  return done;
}

Failure not_there(const std::string& id, const std::string& feed) {
  return {refused, "there is no " + escape_text(id) + " in the feed " + escape_text(feed)};
}

void check_new_id(const std::string& id) {
  if (const std::string why = verbs::id_error(id); !why.empty()) throw Failure(refused, why);
}

}  // namespace w8y::ctl
