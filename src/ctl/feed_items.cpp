// Subcommands for items of feeds and sorted feeds: publish, edit, move, retract.
#include <array>
#include <optional>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/text.hpp"
#include "operator/feeds.hpp"
#include "operator/random_ids.hpp"

namespace w8y::ctl {

namespace {

using Where = verbs::FeedPosition::Where;

class Publish final : public FeedCommand {
  void declare_more(Arguments& words) override {
    items_.declare(words, "ITEM", "The item; '-': those of standard input, one per line");
    words.option("--id", "ID", "an ID", "ID of a new item, or of the item to edit (default: new)",
                 into(id_));
  }

  void check() override {
    items_.check("feed publish", "ITEM", nul_);
    if (id_) check_new_id(*id_);
  }

  int work(const Options& options, Context& context) override {
    verbs::Feed feed(server(context), feed_);
    const auto publish_all = [&feed](const std::vector<verbs::FeedItem>& items) {
      feed.publish(items);
    };
    const int exit = items_.many() && !id_ ? send_input(options, with_new_ids(publish_all))
                                           : publish(options, feed);
    if (feed.has_two_units())
      complain("note: the feed " + escape_text(feed_) +
               " has times in seconds and in milliseconds: max_length may drop newer items before "
               "older ones");
    return exit;
  }

  int publish(const Options& options, verbs::Feed& feed) {
    const std::string item = items_.one(base64_, nul_);
    const std::string id = id_ ? *id_ : verbs::RandomIds().next();
    feed.publish({{id, item}});
    return print_id(options, feed_, id, nul_);
  }

  FeedItems items_;
  std::optional<std::string> id_;
};

class SortedInsert final : public FeedCommand {
 public:
  explicit SortedInsert(Where where) { position_.where = where; }

 private:
  void declare_more(Arguments& words) override {
    if (position_.where == Where::before || position_.where == Where::after)
      words.one("ID", "The item before or after which ITEM is added", into(position_.id));
    items_.declare(words, "ITEM", "The item; '-': those of standard input, one per line");
  }

  void check() override {
    static constexpr std::array names = {"sorted prepend", "sorted append", "sorted before",
                                         "sorted after"};
    items_.check(names.at(static_cast<std::size_t>(position_.where)), "ITEM", nul_);
  }

  int work(const Options& options, Context& context) override {
    verbs::SortedFeed feed(server(context), feed_);
    if (items_.many())
      return send_input(
          options, [&](std::vector<std::string>&& items) { return feed.insert(position_, items); });
    const std::string item = items_.one(base64_, nul_);
    return print_id(options, feed_, feed.insert(position_, {item}).at(0), nul_);
  }

  verbs::FeedPosition position_;
  FeedItems items_;
};

class SortedEdit final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.one("ID", "The item to edit", into(id_));
    items_.declare(words, "ITEM", "The new content");
  }

  void check() override { items_.check("sorted edit", "ITEM", nul_); }

  int work(const Options& options, Context& context) override {
    const std::string item = items_.one(base64_, nul_);
    if (!verbs::SortedFeed(server(context), feed_).edit(id_, item)) throw not_there(id_, feed_);
    return print_done(options, feed_, id_, "edited");
  }

  std::string id_;
  FeedItems items_;
};

class SortedMove final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.one("POSITION", ":ID (before ID), ID: (after ID), begin: or :end",
              [this](Argument&& word) { position_ = position_of(word.text); });
    words.one("ID", "The item to move", into(id_));
  }

  int work(const Options& options, Context& context) override {
    if (!verbs::SortedFeed(server(context), feed_).move(position_, id_))
      throw not_there(id_, feed_);
    return print_done(options, feed_, id_, "moved");
  }

  static verbs::FeedPosition position_of(const std::string& text) {
    if (text == "begin:") return {Where::begin, {}};
    if (text == ":end") return {Where::end, {}};
    if (text.size() > 1 && text.front() == ':') return {Where::before, text.substr(1)};
    if (text.size() > 1 && text.back() == ':')
      return {Where::after, text.substr(0, text.size() - 1)};
    throw Failure(wrong_usage,
                  "sorted move needs a position, such as :3 (before 3), 3: (after 3), begin: or "
                  ":end, not " +
                      escape_text(text));
  }

  verbs::FeedPosition position_;
  std::string id_;
};

class Retract final : public FeedCommand {
 public:
  explicit Retract(FeedKind kind) : kind_(kind) {}

 private:
  void declare_more(Arguments& words) override { words.many("ID", "The items", into(ids_)); }

  int work(const Options& options, Context& context) override {
    const std::vector<bool> there =
        verbs::RetractingFeed(server(context), feed_, kind_).retract({ids_.begin(), ids_.end()});
    FeedResults results(options.json, feed_);
    for (std::size_t i = 0; i < ids_.size(); ++i)
      results.add(ids_[i], there[i] ? "retracted" : "is not there",
                  there[i] ? "" : not_there(ids_[i], feed_).what());
    return results.end();
  }

  FeedKind kind_;
  std::deque<std::string> ids_;
};

/// Subcommand that only reads, for several kinds of feeds.
class FeedReading : public FeedCommand {
 public:
  explicit FeedReading(FeedKind kind) : kind_(kind) {}

 protected:
  verbs::FeedAccess access(Context& context) { return {server(context), feed_, kind_}; }

 private:
  FeedKind kind_;
};

class Ids final : public FeedReading {
 public:
  using FeedReading::FeedReading;

 private:
  void declare_more(Arguments&) override {}

  int work(const Options& options, Context& context) override {
    verbs::FeedAccess feed = access(context);
    feed.check();
    FeedPrinter printer(options, nul_, feed_);
    feed.ids([&printer](std::string&& id) { printer.id(id); });
    return done;
  }
};

class Get final : public FeedReading {
 public:
  using FeedReading::FeedReading;

 private:
  void declare_more(Arguments& words) override { words.one("ID", "The item", into(id_)); }

  int work(const Options& options, Context& context) override {
    const auto item = access(context).item(id_);
    if (!item) throw not_there(id_, feed_);
    return print_value(options, feed_, id_, "item", *item, nul_);
  }

  std::string id_;
};

class All final : public FeedReading {
 public:
  using FeedReading::FeedReading;

 private:
  void declare_more(Arguments&) override {}

  int work(const Options& options, Context& context) override {
    verbs::FeedAccess feed = access(context);
    feed.check();
    FeedPrinter printer(options, nul_, feed_);
    std::vector<std::pair<std::string, std::size_t>> too_long;
    feed.all([&](const std::string& id, std::string&& item) { printer.item(id, item); }, too_long);
    for (const auto& [id, bytes] : too_long)
      complain("the item " + escape_text(id) + " has " + std::to_string(bytes) +
               " bytes, more than can be read; skipped");
    return too_long.empty() ? done : refused;
  }
};

}  // namespace

const CommandMaker make_feed_publish = new_command<Publish>;
const CommandMaker make_sorted_append = new_command<SortedInsert, Where::end>;
const CommandMaker make_sorted_prepend = new_command<SortedInsert, Where::begin>;
const CommandMaker make_sorted_before = new_command<SortedInsert, Where::before>;
const CommandMaker make_sorted_after = new_command<SortedInsert, Where::after>;
const CommandMaker make_sorted_edit = new_command<SortedEdit>;
const CommandMaker make_sorted_move = new_command<SortedMove>;
const CommandMaker make_feed_retract = new_command<Retract, FeedKind::feed>;
const CommandMaker make_sorted_retract = new_command<Retract, FeedKind::sorted_feed>;
const CommandMaker make_feed_ids = new_command<Ids, FeedKind::feed>;
const CommandMaker make_sorted_ids = new_command<Ids, FeedKind::sorted_feed>;
const CommandMaker make_queue_ids = new_command<Ids, FeedKind::queue>;
const CommandMaker make_job_ids = new_command<Ids, FeedKind::job>;
const CommandMaker make_feed_get = new_command<Get, FeedKind::feed>;
const CommandMaker make_sorted_get = new_command<Get, FeedKind::sorted_feed>;
const CommandMaker make_feed_all = new_command<All, FeedKind::feed>;
const CommandMaker make_sorted_all = new_command<All, FeedKind::sorted_feed>;

}  // namespace w8y::ctl
