// Adds items from the command line or standard input to the end of a list.
#include <unistd.h>

#include <iostream>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/item_stream.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/bulk_add.hpp"
#include "operator/changes.hpp"
#include "operator/lists.hpp"

namespace w8y::ctl {

namespace {

class Add final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix(words, "The list", prefix_);
    words.flag("--base64", "Items are given in base64", base64_);
    words.flag("-0,--null", "With '-': a NUL byte ends each item, not a newline", nul_);
    words.flag("--allow-duplicates", "Add items that are in the list already, too", again_);
    words.flag("--create", "Add to a list that no config has, and create it", create_);
    words.many("ITEM", "Items; '-' alone: those of standard input, one per line",
               [this](Argument&& word) { words_.push_back(std::move(word)); });
  }

  int run(const Options& options, Context& context) override {
    const bool from_input = words_.size() == 1 && words_[0].text == "-" && !words_[0].literal;
    if (nul_ && !from_input)
      throw Failure(wrong_usage,
                    "-0 needs '-' as the only item, since it applies to standard input");
    std::vector<Item> items;
    if (!from_input)
      for (auto& word : words_)
        items.push_back(base64_ ? decoded(std::move(word.text)) : std::move(word.text));
    verbs::QueryContext query = context.query_items(prefix_);
    if (!create_) check_known(query);
    return from_input ? add_input(options, query) : add_items(options, query, items);
  }

 private:
  /// Throws Failure if no config and no key has the list, because its name is probably a typo.
  void check_known(verbs::QueryContext& query) const {
    try {
      verbs::check_known(query, prefix_);
    } catch (const verbs::QueryError& refusal) {
      if (refusal.status() != 404) throw;
      throw Failure(
          refused, refusal.what(),
          {"to create the list: w8yctl add --create " + shell_argument(prefix_) + " ITEM"});
    }
  }

  int add_items(const Options& options, verbs::QueryContext& query,
                const std::vector<Item>& items) const {
    core::JsonArray told;
    const std::vector<verbs::ChangedItem> added = verbs::add_items(query, prefix_, items, again_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (options.json) {
        core::AsciiObject entry;
        entry.put_bytes("item", items[i]);
        entry.put("result", added[i].result);
        entry.put("done", added[i].done);
        told.add(entry.finish());
      } else {
        std::cout << escape_text(items[i]) << ": " << added[i].result << '\n';
      }
    }
    if (options.json) {
      core::AsciiObject json;
      json.put_bytes("list", prefix_);
      json.put_json("items", told.finish());
      print_json(json.finish());
    }
    return done;
  }

  int add_input(const Options& options, verbs::QueryContext& query) const {
    verbs::BulkAdd bulk(query, prefix_, again_);
    ItemStream lines(STDIN_FILENO, nul_ ? '\0' : '\n', base64_ ? 2 * max_item : max_item);
    std::size_t refused_lines = 0;
    try {
      while (auto line = lines.next()) {
        if (accepts(*line, base64_, "not added"))
          bulk.add(std::move(line->item));
        else
          ++refused_lines;
      }
      bulk.finish();
    } catch (const verbs::RedisError& error) {
      throw redis_failure(!verbs::is_unreachable(error), error.what(),
                          {std::to_string(bulk.added()) +
                           " items were added before this error; repeat the command without "
                           "--allow-duplicates to skip them"});
    }
    report(options, bulk, refused_lines);
    return refused_lines == 0 ? done : refused;
  }

  void report(const Options& options, const verbs::BulkAdd& bulk, std::size_t refused_lines) const {
    if (options.json) {
      core::AsciiObject json;
      json.put_bytes("list", prefix_);
      json.put("added", bulk.added());
      json.put("skipped", bulk.skipped());
      json.put("refused", refused_lines);
      return print_json(json.finish());
    }
    std::cout << escape_text(prefix_) << ": " << bulk.added()
              << (bulk.added() == 1 ? " item" : " items") << " added";
    if (bulk.skipped() > 0) std::cout << ", " << bulk.skipped() << " in the list already; skipped";
    if (refused_lines > 0) std::cout << ", " << refused_lines << " refused";
    std::cout << '\n';
  }

  std::string prefix_;
  std::vector<Argument> words_;
  bool base64_ = false;
  bool nul_ = false;
  bool again_ = false;
  bool create_ = false;
};

}  // namespace

const CommandMaker make_add = new_command<Add>;

}  // namespace w8y::ctl
