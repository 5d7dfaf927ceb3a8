// Subcommands for feeds as a whole: create, delete, list, config.
#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/feed_directory.hpp"

namespace w8y::ctl {

namespace {

std::uint64_t max_length_of(const char* what, const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  constexpr std::uint64_t most = std::uint64_t{1} << 53U;  // limit of the scripts
  if (error == std::errc{} && at == end && number <= most) return number;
  throw Failure(wrong_usage, std::string(what) + " needs a number of items, 0 for no limit, not " +
                                 escape_text(text));
}

FeedKind kind_of(const char* what, const std::string& text) {
  return *verbs::kind_of_name(one_of(what, text, {"feed", "sorted_feed", "queue", "job"}));
}

class FeedCreate final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.option("--kind", "KIND", "feed, sorted_feed, queue or job",
                 "feed (default), sorted_feed, queue or job",
                 [this](Argument&& word) { kind_ = kind_of("--kind", word.text); });
    words.option("--max-length", "N", "a number", "Keep the newest N items of a feed",
                 [this](Argument&& word) { most_ = max_length_of("--max-length", word.text); });
    words.flag("--exists-ok", "Succeed if the feed exists already", exists_ok_);
    words.then([this] {
      if (most_ && kind_ != FeedKind::feed)
        throw Failure(wrong_usage,
                      "--max-length needs --kind feed: feeds of other kinds keep all items");
    });
  }

  int work(const Options& options, Context& context) override {
    verbs::FeedDirectory feeds(server(context));
    const bool made = feeds.create(feed_, kind_, most_);
    if (!made) check_other_type(feeds);
    if (options.json) {
      core::AsciiObject json;
      json.put_bytes("feed", feed_);
      json.put("result", made ? "created" : "exists");
      print_json(json.finish());
    }
    return done;
  }

  void check_other_type(verbs::FeedDirectory& feeds) const {
    const auto other = feeds.find(feed_);
    const std::string kind = other ? other->kind : "";
    if (!exists_ok_ || (!kind.empty() && kind != verbs::kind_name(kind_)))
      throw Failure(refused, "there is a feed " + escape_text(feed_) + " already" +
                                 (kind.empty() ? "" : ", of kind " + escape_text(kind)));
  }

  FeedKind kind_ = FeedKind::feed;
  std::optional<std::uint64_t> most_;
  bool exists_ok_ = false;
};

class FeedDelete final : public FeedCommand {
  void declare_more(Arguments&) override {}

  int work(const Options& options, Context& context) override {
    verbs::FeedDirectory(server(context)).remove(feed_);
    if (!options.json) return done;
    core::AsciiObject json;
    json.put_bytes("feed", feed_);
    json.put("result", "deleted");
    print_json(json.finish());
    return done;
  }
};

class FeedList final : public Command {
 public:
  void declare(Arguments& words) override { declare_nul(words, nul_); }

  int run(const Options& options, Context& context) override {
    core::JsonArray all;
    for (const auto& [feed, kind] : verbs::FeedDirectory({context.connection().redis()}).list()) {
      if (!options.json) {
        std::cout << record_text(options, feed) << (nul_ ? '\0' : '\n');
        continue;
      }
      core::AsciiObject one;
      one.put_bytes("feed", feed);
      one.put_bytes("kind", kind);
      all.add(one.finish());
    }
    if (options.json) print_json("feeds", all);
    return done;
  }

 private:
  bool nul_ = false;
};

class FeedConfig final : public FeedCommand {
  void declare_more(Arguments& words) override {
    words.one_or_none("NAME", "One value, such as max_length (default: all)", into(name_));
    words.one_or_none("VALUE", "New value (default: print the current one)", into(value_));
  }

  int work(const Options& options, Context& context) override {
    verbs::FeedDirectory feeds(server(context));
    if (value_) {
      context.refuse_other_formats();
      if (*name_ == "max_length") max_length_of("max_length", *value_);
      if (*name_ == "type") kind_of("type", *value_);
      feeds.set_config(feed_, *name_, *value_);
      if (options.json) print_json(one(*name_, *value_));
      return done;
    }
    const verbs::FeedDirectory::Values values = feeds.config(feed_);
    return name_ ? show_one(options, values) : show_all(options, values);
  }

  [[nodiscard]] std::string one(const std::string& name, const std::string& value) const {
    core::AsciiObject json;
    json.put_bytes("feed", feed_);
    json.put_bytes("name", name);
    json.put_bytes("value", value);
    return json.finish();
  }

  [[nodiscard]] int show_one(const Options& options,
                             const verbs::FeedDirectory::Values& values) const {
    for (const auto& [name, value] : values) {
      if (name != *name_) continue;
      if (options.json) {
        print_json(one(name, value));
      } else {
        std::cout << record_text(options, value) << (nul_ ? '\0' : '\n');
      }
      return done;
    }
    throw Failure(refused, "the feed " + escape_text(feed_) + " has no " + escape_text(*name_) +
                               " in its config");
  }

  [[nodiscard]] int show_all(const Options& options,
                             const verbs::FeedDirectory::Values& values) const {
    core::JsonArray all;
    for (const auto& [name, value] : values) {
      if (!options.json) {
        std::cout << record_text(options, name) << '\t' << record_text(options, value)
                  << (nul_ ? '\0' : '\n');
        continue;
      }
      core::AsciiObject each;
      each.put_bytes("name", name);
      each.put_bytes("value", value);
      all.add(each.finish());
    }
    if (!options.json) return done;
    core::AsciiObject json;
    json.put_bytes("feed", feed_);
    json.put_json("config", all.finish());
    print_json(json.finish());
    return done;
  }

  std::optional<std::string> name_;
  std::optional<std::string> value_;
};

}  // namespace

const CommandMaker make_feed_create = new_command<FeedCreate>;
const CommandMaker make_feed_delete = new_command<FeedDelete>;
const CommandMaker make_feed_list = new_command<FeedList>;
const CommandMaker make_feed_config = new_command<FeedConfig>;

}  // namespace w8y::ctl
