// Loads a Config from files: their order, and the lists that they define.
#include "core/config.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "core/config_gearman.hpp"
#include "core/config_hosts.hpp"
#include "core/config_kinds.hpp"
#include "core/config_lists_from.hpp"
#include "core/text.hpp"

namespace w8y {

namespace core {

namespace {

constexpr const char* output_of = "the output of ";

struct Document {
  std::string name;
  Node root = {};
};

class Loader {
 public:
  explicit Loader(ConfigHost& host) : reading_{host, host.is_root()} {}

  /// Keeps the file and its syntax errors. The tables are read after all files were opened.
  void open(const std::string& name, std::string_view text);
  void open_file(const std::string& path);
  /// Opens the files that the first file includes, and reads the output of the programs that it
  /// names.
  void open_more();
  Config read();

 private:
  void top_level(const ConfigValue& top, bool is_main);
  void read_includes(const ConfigValue& value);
  void read_programs(const ConfigValue& value);
  void open_program(const ConfigValue& value);
  void keep(const std::string& name, std::variant<Node, SyntaxError> parsed);
  void lists(const ConfigValue& section);
  void list(const ConfigValue& value, const std::string& prefix);
  void check_prefix(const ConfigValue& value, const ListConfig& rule) const;
  void check_shared_keys(const ConfigValue& value, const ListConfig& rule) const;
  void file_problem(const std::string& name, const std::string& problem);
  [[noreturn]] void fail();

  struct Defined {
    std::string file;
    Place place;
  };

  ReadContext reading_;
  std::deque<Document> documents_;
  std::vector<std::string> files_;  ///< in order of reading, including those without a document
  Config config_;
  ListDefaults defaults_;
  ListConfigPtr last_;  ///< list that was read last
  HostSections hosts_;
  KeyPrefixes key_prefixes_;
  std::map<std::string, Defined> defined_;
};

void Loader::file_problem(const std::string& name, const std::string& problem) {
  reading_.errors.push_back({name, 0, 0, "", problem});
}

void Loader::open(const std::string& name, std::string_view text) {
  files_.push_back(name);
  keep(name, parse_toml(text));
}

void Loader::keep(const std::string& name, std::variant<Node, SyntaxError> parsed) {
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
    reading_.errors.push_back({name, error->place.line, error->place.column, "", error->text});
    return;
  }
  documents_.push_back({name, std::get<Node>(std::move(parsed))});
}

void Loader::open_file(const std::string& path) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const ConfigHost::File file = reading_.host.read(path);
  if (file.problem.empty()) return open(name, file.text);
  files_.push_back(name);
  file_problem(name, file.problem);
}

void Loader::open_more() {
  if (documents_.empty()) return;
  const Document& main = documents_.front();
  const ConfigValue top(reading_, main.name, main.root);
  if (const Node* include = main.root.find("include")) read_includes(top.member(*include));
  if (const Node* programs = main.root.find("lists_from")) read_programs(top.member(*programs));
}

void Loader::read_includes(const ConfigValue& value) {
  if (value.node().kind != Node::Kind::array) {
    return value.must_be("an array of paths or patterns, such as [\"/etc/w8y.d/*.toml\"]");
  }
  // A file may match two patterns, and a pattern may match its own file.
  std::set<std::string> seen = {value.file()};
  for (const Node& item : value.node().items) {
    const ConfigValue pattern = value.member(item);
    std::string text;
    if (!pattern.path(text)) continue;
    const std::vector<std::string> paths = reading_.host.glob(text);
    if (paths.empty() && text.find_first_of("*?[") == std::string::npos) {
      pattern.wrong(quote_start(text) + " does not exist; must be a file, or a pattern such as " +
                    "\"/etc/w8y.d/*.toml\", which may match no file");
    }
    for (const std::string& path : paths) {
      if (seen.insert(path).second) open_file(path);
    }
  }
}

void Loader::read_programs(const ConfigValue& value) {
  const bool tables = value.node().kind == Node::Kind::array &&
                      std::ranges::all_of(value.node().items, [](const Node& item) {
                        return item.kind == Node::Kind::table;
                      });
  if (!tables) return value.must_be("one or more tables [[lists_from]]");
  for (const Node& item : value.node().items) open_program(value.member(item));
}

/// The output of the program is named after it.
void Loader::open_program(const ConfigValue& value) {
  ListsFrom from;
  const std::size_t errors = reading_.errors.size();
  read_table(value, lists_from_keys, {}, from);
  if (value.node().find("command") == nullptr)
    value.wrong("has no command; must name a program, such as command = [\"/opt/acme/bin/lists\"]");
  if (reading_.errors.size() > errors) return;
  const auto printed = reading_.host.run(from.command, from.timeout);
  if (!printed) return;
  const std::string name = output_of + from.command.front();
  if (!printed->problem.empty()) {
    value.wrong(quote(from.command.front()) + " " + printed->problem);
    return;
  }
  const std::size_t begin = printed->text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || printed->text[begin] != '{') return open(name, printed->text);
  files_.push_back(name);
  keep(name, parse_json(printed->text));
}

void Loader::top_level(const ConfigValue& top, bool is_main) {
  static const std::vector<std::string_view> sections = {
      "include", "lists_from", "redis", "gearman", "supervisor", "defaults", "lists", "hosts"};
  for (const Node& node : top.node().items) {
    const ConfigValue value = top.member(node);
    const bool known = std::find(sections.begin(), sections.end(), node.key) != sections.end();
    if (known && !is_main && node.key != "lists") {
      value.wrong_key(value.file().starts_with(output_of)
                          ? "is in the output of a program, which may have only lists"
                          : "is in an included file, which may have only [lists]");
    } else if (node.key == "redis") {
      read_table(value, redis_keys, {}, config_.redis);
      check_redis(value, config_.redis);
    } else if (node.key == "gearman") {
      read_table(value, gearman_keys, {}, config_.gearman);
    } else if (node.key == "supervisor") {
      read_table(value, supervisor_keys, {}, config_.supervisor);
    } else if (node.key == "defaults") {
      read_defaults(value, defaults_);
    } else if (node.key == "hosts") {
      hosts_.read(value);
    } else if (!known) {
      unknown_key(value, sections, {});
    }
  }
}

Config Loader::read() {
  for (const Document& document : documents_) {
    top_level(ConfigValue(reading_, document.name, document.root),
              &document == &documents_.front());
  }
  if (const std::string other = reading_.host.other_host(); !other.empty()) {
    config_.supervisor.host = other;
  } else if (config_.supervisor.host.empty()) {
    config_.supervisor.host = reading_.host.hostname();
  }
  // By now [defaults] and [hosts] were read, regardless of their position.
  for (const Document& document : documents_) {
    const ConfigValue top(reading_, document.name, document.root);
    if (const Node* node = document.root.find("lists")) lists(top.member(*node));
  }
  if (config_.supervisor.status.empty() && !documents_.empty()) {
    const Node* section = documents_.front().root.find("supervisor");
    // An empty array means that there is no status API.
    if (section == nullptr || section->find("status") == nullptr) {
      config_.supervisor.status = {default_status(reading_.host)};
    }
  }
  hosts_.apply(config_.supervisor.host, config_);
  hosts_.report_unknown(reading_);
  config_.has_redis = config_.lists.empty() || documents_.front().root.find("redis") != nullptr ||
                      std::ranges::any_of(config_.lists, [](const auto& list) {
                        return list.second->traits().in_redis;
                      });
  if (!reading_.errors.empty()) fail();
  key_prefixes_.share(config_);
  if (config_.lists.empty())
    reading_.warnings.push_back(files_.front() + ": no lists: nothing to do");
  config_.warnings = std::move(reading_.warnings);
  return std::move(config_);
}

void Loader::lists(const ConfigValue& section) {
  if (!section.is_table()) return;
  for (const Node& node : section.node().items) {
    const ConfigValue value = section.member(node);
    std::string prefix = node.key;
    if (prefix == ":") {
      value.wrong_key("is ambiguous: the empty prefix or a colon; must be \"\" or \"::\"");
      continue;
    }
    if (prefix.ends_with(':')) prefix.pop_back();
    list(value, prefix);
  }
}

void Loader::list(const ConfigValue& value, const std::string& prefix) {
  const Node& node = value.node();
  const auto [entry, is_new] = defined_.try_emplace(prefix, Defined{value.file(), node.key_place});
  if (!is_new) {
    const Defined& first = entry->second;
    value.wrong_key("is defined twice: first at " + first.file + ':' +
                    std::to_string(first.place.line) + ':' + std::to_string(first.place.column) +
                    "; remove one (a final ':' makes no difference)");
  }
  auto rule = std::make_shared<ListConfig>();
  rule->prefix = prefix;
  read_list(value, defaults_, *rule);
  check_prefix(value, *rule);
  if (!is_new) return;
  check_shared_keys(value, *rule);
  key_prefixes_.add(value, rule);
  // Adjacent lists are often equal.
  if (last_) rule->share(*last_);
  last_ = rule;
  ListConfig here = *rule;
  if (hosts_.override(reading_, config_.supervisor.host, here, config_))
    config_.written_lists.emplace(
        prefix, std::exchange(rule, std::make_shared<ListConfig>(std::move(here))));
  config_.lists.emplace(prefix, std::move(rule));
}

void Loader::check_prefix(const ConfigValue& value, const ListConfig& rule) const {
  const KindTraits& kind = rule.traits();
  if (!kind.in_redis) {
    if (config_.gearman.servers.empty()) value.wrong_key(no_gearman_servers);
    return;
  }
  const std::string& prefix = rule.bare_key_prefix();
  if (prefix.empty())
    value.warn(std::string("has the empty prefix: its keys are ") + kind.bare_keys + " and so on");
  if (!is_cluster_url(config_.redis.url.view()) || has_hash_tag(prefix)) return;
  const std::string tagged = "{" + prefix + "}";
  if (const Node* own = value.node().find("key_prefix")) {
    return value.member(*own).wrong(
        "has no hash tag, and in a cluster all keys of a list must share a hash slot; must be a "
        "key prefix such as " +
        quote_start(tagged));
  }
  value.wrong_key(
      "has no hash tag, and in a cluster all keys of a list must share a hash slot; must have a "
      "name such as [lists." +
      quote_start(tagged) + "] (the keys are then " +
      quote_start(kind.before_key_prefix + tagged + kind.after_key_prefix) + " and so on)");
}

/// Rejects lists that share keys. `work:lock:list` is a lock of `work` and also the list of
/// `work:lock`.
void Loader::check_shared_keys(const ConfigValue& value, const ListConfig& rule) const {
  const auto refuse = [&value](const std::string& owner, const std::string& other) {
    value.wrong_key("shares keys with another list: keys of " + quote_start(other) +
                    " would be locks of " + quote_start(owner) + "; must have another name");
  };
  const auto& lists = key_prefixes_.lists();
  const std::string& prefix = rule.bare_key_prefix();
  for (const std::string locks : {":lock", ":proc"}) {
    for (auto at = prefix.find(locks); at != std::string::npos; at = prefix.find(locks, at + 1)) {
      const std::size_t end = at + locks.size();
      const auto owner = lists.find(prefix.substr(0, at));
      const bool is_lock = end == prefix.size() || prefix[end] == ':';
      if (is_lock && owner != lists.end() && owner->second.front()->traits().locks_items)
        refuse(owner->first, prefix);
    }
    if (!rule.traits().locks_items) continue;
    for (const std::string& begin : {prefix + locks, prefix + locks + ':'}) {
      const auto other = lists.lower_bound(begin);
      if (other == lists.end()) continue;
      const bool same =
          begin.ends_with(':') ? other->first.starts_with(begin) : other->first == begin;
      if (same) return refuse(prefix, other->first);
    }
  }
}

void Loader::fail() {
  const auto file_order = [this](const ConfigDiagnostic& error) {
    return std::find(files_.begin(), files_.end(), error.file) - files_.begin();
  };
  std::stable_sort(reading_.errors.begin(), reading_.errors.end(),
                   [&](const ConfigDiagnostic& a, const ConfigDiagnostic& b) {
                     return std::tuple(file_order(a), a.line, a.column) <
                            std::tuple(file_order(b), b.line, b.column);
                   });
  throw ConfigError(std::move(reading_.errors));
}

}  // namespace

}  // namespace core

Config parse_config(std::string_view text, const std::string& name, ConfigHost& host) {
  core::Loader loader(host);
  loader.open(name, text);
  loader.open_more();
  return loader.read();
}

Config load_config(const std::string& path, ConfigHost& host) {
  core::Loader loader(host);
  loader.open_file(path);
  loader.open_more();
  return loader.read();
}

}  // namespace w8y
