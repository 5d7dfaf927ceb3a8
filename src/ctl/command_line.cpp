#include "ctl/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <list>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/values.hpp"

namespace w8y::ctl {

namespace {

constexpr const char* footer =
    "Connections: --socket is the status socket of w8yd, --redis-url is the URL of Redis, and\n"
    "--config is a file with both. Without these options, w8yctl uses $W8Y_SOCKET, else\n"
    "/etc/w8y.toml, else the default socket of w8yd. $W8Y_REDIS_URL then replaces the URL in that\n"
    "file. If w8yd has an embedded Redis, w8yctl requests its URL from w8yd.\n"
    "\n"
    "Items that start with '-' follow '--'; --base64 accepts any bytes. Commands that query, "
    "pause,\n"
    "resume or release accept a pattern ('media:*') as LIST, except why and statistics. A run ID "
    "may be\n"
    "shortened to a unique prefix.\n"
    "Exit status: 0 done, 1 refused or not found, 2 wrong usage, 3 not reachable.";

/// Commands that other programs have, and those of w8yctl that do the same.
struct Synonym {
  std::string_view name;
  const char* use;
};
constexpr std::array synonyms = std::to_array<Synonym>({
    {"retry",
     "to run an item again: w8yctl release LIST ITEM; a stalled job: w8yctl job retry FEED ID"},
    {"unquarantine", "to run an item again: w8yctl release LIST ITEM"},
    {"unpause", "to end the pause of a list: w8yctl resume LIST"},
    {"delete", "to remove an item: w8yctl remove LIST ITEM; a job: w8yctl job retract FEED ID"},
    {"kill", "to stop a run: w8yctl cancel RUN-ID"},
});

class CommandLine {
 public:
  explicit CommandLine(Options& options) : options_(options), common_(app_) {
    app_.set_version_flag("--version", "w8yctl " W8Y_VERSION);
    declare_common();
    app_.require_subcommand(1, 1);
    app_.fallthrough();
    app_.footer(footer);
    for (const auto& row : all_commands()) {
      if (row.is_heading()) {
        heading_ = row.what;
      } else {
        declare(row);
      }
    }
  }

  /// Prints the help of the command with this name, such as {"job", "put"}; {}: of w8yctl.
  void print_help(const std::vector<std::string>& words) const {
    std::string name;
    for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
    for (const auto* all : {&commands_, &groups_})
      for (const auto& each : *all)
        if (name == each.name) {
          const auto space = name.find(' ');
          std::cout << each.words.app().help(
              space == std::string::npos ? "w8yctl" : "w8yctl " + name.substr(0, space));
          return;
        }
    if (!words.empty())
      throw Failure(wrong_usage, no_such("command", name, names()) + " (see w8yctl --help)");
    std::cout << app_.get_formatter()->make_help(&app_, "w8yctl", CLI::AppFormatMode::Normal);
  }

  /// `words`: in reverse order, as CLI11 requires.
  CommandPtr parse(std::vector<std::string>&& words, int& exit) {
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Success& asked) {  // --help, --version
      exit = app_.exit(asked);
      return nullptr;
    } catch (const CLI::Error& error) {
      throw Failure(wrong_usage, error_text(error) + " (see " + where_to_read() + ")");
    }
    Chosen& chosen = *this->chosen();
    common_.parse();
    for (auto& group : groups_) group.words.parse();
    chosen.words.parse();
    options_.changes = chosen.changes;
    return std::move(chosen.command);
  }

 private:
  struct Chosen {
    const char* name;
    Arguments words;
    CommandPtr command;
    bool changes;
  };

  void declare_common() {
    const auto text = [](std::string& into) {
      return [&into](Argument&& word) { into = std::move(word.text); };
    };
    common_.option("--socket", "PATH", "a path", "Status socket of w8yd", text(options_.socket));
    common_.option("--config", "FILE", "a file", "Config file", text(options_.config));
    common_.option("--redis-url", "URL", "a URL", "Redis", text(options_.redis_url));
    common_.option("--lock-key", "lock|proc", "lock or proc",
                   "Name of lock keys (default: as in the config, else lock)",
                   [this](Argument&& word) {
                     options_.lock_key = one_of("--lock-key", word.text, {"lock", "proc"});
                   });
    common_.option("--fleet", "NAME", "a name", "Name of the fleet (default: as in the config)",
                   options_.fleet);
    common_.flag("--json", "For programs: one JSON document (watch: JSON lines)", options_.json);
    common_.flag("--wide", "Do not truncate tables to the terminal's width", options_.wide);
  }

  void declare(const CommandRow& row) {
    if (row.declare_group != nullptr) return declare_group(row);
    const std::string_view name = row.name;
    const auto space = name.find(' ');
    CLI::App& above =
        space == std::string_view::npos ? app_ : *above_of(std::string(name.substr(0, space)));
    const std::string own(space == std::string_view::npos ? name : name.substr(space + 1));
    CLI::App* app = above.add_subcommand(own, row.what)->footer("");
    app->group(&above == &app_ ? heading_ : "Subcommands");
    commands_.push_back({row.name, Arguments(*app), (*row.make)(), row.changes});
    commands_.back().command->declare(commands_.back().words);
  }

  /// Returns the parent: a group, or a subcommand with subcommands. It directly precedes its
  /// children.
  CLI::App* above_of(const std::string& name) {
    for (auto& command : commands_)
      if (command.name == name) return &command.words.app();
    return &groups_.back().words.app();
  }

  void declare_group(const CommandRow& row) {
    CLI::App* app = app_.add_subcommand(row.name, row.what)->footer("")->require_subcommand(1, 1);
    app->group(heading_);
    groups_.push_back({row.name, Arguments(*app), nullptr, false});
    row.declare_group(groups_.back().words, options_);
  }

  static CLI::App* given(const CLI::App& above) {
    const auto all = above.get_subcommands();
    return all.empty() ? nullptr : all.front();
  }

  Chosen* chosen_group() {
    for (auto& group : groups_)
      if (&group.words.app() == given(app_)) return &group;
    return nullptr;
  }

  Chosen* chosen() {
    const CLI::App* app = given(app_);
    const CLI::App* below = app == nullptr ? nullptr : given(*app);
    if (below != nullptr) app = below;
    for (auto& command : commands_)
      if (app != nullptr && &command.words.app() == app) return &command;
    return nullptr;
  }

  std::string where_to_read() {
    const Chosen* command = chosen();
    if (command == nullptr) command = chosen_group();
    return command == nullptr ? "w8yctl --help"
                              : "w8yctl " + std::string(command->name) + " --help";
  }

  /// Returns the first unknown argument.
  std::string unknown() const {
    const auto words = app_.remaining(true);
    return words.empty() ? std::string() : Arguments::shown(words.front()).text;
  }

  [[nodiscard]] static std::string no_such(const std::string& kind, const std::string& name,
                                           const std::vector<std::string_view>& known) {
    return "there is no " + kind + " " + escape_text(name) + core::near_hint(name, known);
  }

  /// Returns the names of all commands and groups.
  [[nodiscard]] std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const auto& command : commands_) all.emplace_back(command.name);
    for (const auto& group : groups_) all.emplace_back(group.name);
    return all;
  }

  /// `group`: nullptr for the top level.
  std::string no_command(const Chosen* group) const {
    const std::string before = group == nullptr ? "" : group->name + std::string(" ");
    const std::string name = unknown();
    std::vector<std::string_view> known;
    for (const std::string_view each : names())
      if (each.starts_with(before)) known.push_back(each.substr(before.size()));
    if (name.starts_with('-')) return no_option(name, group);
    if (group == nullptr)
      for (const Synonym& synonym : synonyms)
        if (name == synonym.name) return "there is no command " + name + "; " + synonym.use;
    if (!name.empty()) return no_such(before + "command", name, known);
    if (group == nullptr) return "no command was given";
    std::string all;
    for (const auto& each : known) all += (all.empty() ? "" : ", ") + std::string(each);
    return std::string(group->name) + " needs a command: " + all;
  }

  std::string no_option(const std::string& word, const Chosen* command) const {
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> names;
    std::vector<const CLI::App*> apps = {&app_};
    if (command != nullptr) apps.push_back(&command->words.app());
    for (const auto* app : apps)
      for (const auto* option : app->get_options())
        if (!option->get_group().empty())
          for (const auto& known : option->get_lnames()) names.push_back("--" + known);
    return no_such("option", name, {names.begin(), names.end()});
  }

  std::string unexpected(const Chosen& command) const {
    const std::string word = unknown();
    if (word.size() > 1 && word.front() == '-')
      return std::string(command.name) + ": " + no_option(word, &command) +
             " (put an argument that starts with '-' after '--')";
    return std::string(command.name) + ": unexpected argument " + escape_text(word);
  }

  std::string error_text(const CLI::Error& error) {
    const Chosen* command = chosen();
    if (command == nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
      return no_command(chosen_group());
    std::string text = error.what();
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    // A mistyped option is reported before errors that may follow from it.
    if (command != nullptr && (is_extra || unknown().starts_with('-'))) return unexpected(*command);
    if (command != nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
      for (const auto* option : command->words.app().get_options())
        if (option->get_required() && option->count() == 0)
          return std::string(command->name) + " needs " + option->get_name();
    const std::string name = text.substr(0, text.find(':'));
    std::string needs = common_.needs_of(name);
    if (needs.empty() && command != nullptr) needs = command->words.needs_of(name);
    if (const Chosen* group = chosen_group(); needs.empty() && group != nullptr)
      needs = group->words.needs_of(name);
    if (!needs.empty()) return name + " needs " + needs;
    Arguments::show_all(text);
    return escape(text);
  }

  Options& options_;
  std::string heading_;  ///< of the commands that are being declared
  CLI::App app_{"Shows and controls w8yd and its lists.", "w8yctl"};
  Arguments common_;
  std::list<Chosen> groups_;    // their `command` is nullptr
  std::list<Chosen> commands_;  // arguments refer to its elements
};

bool is_command(const std::string& word) {
  const auto rows = all_commands();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return !row.is_heading() && word == row.name; });
}

/// Prints the help of a command, as its option --help does.
class Help final : public Command {
 public:
  void declare(Arguments& words) override {
    words.any_number("COMMAND", "The command, such as items or job put", words_);
  }

  int run(const Options&, Context&) override {
    Options unused;
    CommandLine(unused).print_help(words_);
    return done;
  }

 private:
  std::vector<std::string> words_;
};

void apply_environment(Options& options) {
  const char* socket = std::getenv("W8Y_SOCKET");
  if (options.socket.empty() && options.config.empty() && socket != nullptr) {
    options.socket = socket;
    options.socket_from_environment = !options.socket.empty();
  }
}

}  // namespace

const CommandMaker make_help = new_command<Help>;

CommandPtr parse_command_line(int argc, char** argv, Options& options, int& exit) {
  CommandLine line(options);
  std::vector<std::string> words;
  bool literal = false;
  bool named = false;  // the subcommand was named
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!literal && word == "--") {
      literal = true;
      continue;
    }
    const bool names_it = !named && is_command(word);
    named = named || names_it;
    words.push_back(names_it ? word : Arguments::hidden(word, literal));
  }
  std::reverse(words.begin(), words.end());
  CommandPtr command = line.parse(std::move(words), exit);
  apply_environment(options);
  return command;
}

}  // namespace w8y::ctl
