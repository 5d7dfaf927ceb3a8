#include "app/ctl/options.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <functional>
#include <iostream>

#include <w8y/base64.hpp>
#include <w8y/escape.hpp>
#include <w8y/units.hpp>

#include "app/ctl/failure.hpp"

namespace w8y::app::ctl {

namespace {

constexpr const char* footer =
    "Where things are: --socket is the w8yd of this host, --redis-url is Redis, --config is a "
    "file\n"
    "that says both. If none is given, /etc/w8y.toml is read; if there is none that can be read,\n"
    "the w8yd at the usual socket is asked. $W8Y_REDIS_URL stands in for the config's URL if no\n"
    "option is given. With a config or a socket, a w8yd with an embedded Redis says where that "
    "is.\n"
    "\n"
    "Items that start with '-' stand after '--'; any bytes can be given with --base64.\n"
    "Exit status: 0 done, 1 refused or not found, 2 wrong usage, 3 not reachable.";

/// What is in the specification, but not in this version.
constexpr std::array later_commands = {"top",  "fleet",  "run",   "schedule",
                                       "feed", "sorted", "queue", "job"};
constexpr int many = CLI::detail::expected_max_vector_size;
constexpr const char* not_yet = " is not in this version yet";

/// CLI11 takes a word in brackets for a list of words. A mark before it hides it; whoever takes a
/// word from CLI11 takes the mark off.
constexpr char mark = '\1';

bool in_brackets(std::string_view word) {
  const std::size_t start = word.find_first_not_of(mark);
  return start != std::string_view::npos && word[start] == '[' && word.back() == ']';
}

std::string unmarked(const std::string& word) {
  return in_brackets(word) ? word.substr(1) : word;
}

std::string prefix_of(std::string word) {
  if (!word.empty() && word.back() == ':') word.pop_back();
  return word;
}

Item item_of(const std::string& word, bool base64) {
  if (!base64) return word;
  auto bytes = base64_decode(word);
  if (!bytes) throw Failure(wrong_usage, escape_text(word) + " is not base64");
  return std::move(*bytes);
}

Duration duration_of(const char* option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration && *duration >= std::chrono::milliseconds(1)) return *duration;
  throw Failure(wrong_usage, std::string(option) + ": " + escape_text(text) +
                                 " is not a duration, such as 90s or 1h30m");
}

/// Declares the commands, and afterwards takes over what was given. CLI11 keeps the words.
class CommandLine {
 public:
  explicit CommandLine(Options& options) : options_(options) {
    app_.set_version_flag("--version", "w8yctl " W8Y_VERSION);
    app_.add_option("--socket", options_.socket, "Status socket of w8yd")->type_name("PATH");
    app_.add_option("--config", options_.config, "Config file")->type_name("FILE");
    app_.add_option("--redis-url", options_.redis_url, "Redis")->type_name("URL");
    app_.add_option("--lock-key", options_.lock_key,
                    "Name of lock keys (default: as in the config, else lock)")
        ->check(CLI::IsMember({"lock", "proc"}));
    app_.add_flag("--json", options_.json, "For programs: one JSON document (watch: JSON lines)");
    app_.require_subcommand(1, 1);
    app_.fallthrough();
    app_.footer(footer);
    add_host_commands();
    add_history_commands();
    add_list_commands();
    add_later_commands();
  }

  CLI::App& app() { return app_; }

  [[nodiscard]] std::string mistake(const CLI::Error& error) const {
    std::string text = error.what();
    if (app_.get_subcommands().empty() &&
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
      text = app_.remaining().empty() ? "no command given"
                                      : "no such command: " + app_.remaining().front();
    std::erase(text, mark);
    return escape(text) + " (see w8yctl --help)";
  }

  void take() {
    const CLI::App* command = app_.get_subcommands().front();
    options_.command = command->get_name();
    options_.socket = unmarked(options_.socket);
    options_.config = unmarked(options_.config);
    options_.redis_url = unmarked(options_.redis_url);
    for (const auto& [name, option] : later_)
      if (option->count() > 0) throw Failure(wrong_usage, name + std::string(not_yet));
    for (const char* name : later_commands)
      if (options_.command == name) throw Failure(wrong_usage, name + std::string(not_yet));
    for (const auto& act : takes_) act();
    if (!options_.items.empty() || !base64_) return;
    throw Failure(wrong_usage, "--base64 without an item");
  }

 private:
  CLI::App* command(const char* name, const char* what) {
    return app_.add_subcommand(name, what)->footer("");
  }

  using Take = std::function<void(std::string&&)>;
  /// One word or many, each handed to `take` once all is parsed.
  CLI::Option* words(CLI::App* command, const char* name, const char* what, Take take) {
    CLI::Option* option = command->add_option(name)->description(what);
    takes_.emplace_back([option, take = std::move(take)] {
      for (const auto& word : option->results()) take(unmarked(word));
    });
    return option->type_name("");
  }
  void prefix(CLI::App* command, const char* what, bool required = true) {
    words(command, "PREFIX", what,
          [this](std::string&& word) { options_.prefix = prefix_of(std::move(word)); })
        ->required(required)
        ->expected(1);
  }
  CLI::Option* items(CLI::App* command, const char* name, const char* what) {
    command->add_flag("--base64", base64_, "Items are given in base64");
    return words(command, name, what,
                 [this](std::string&& word) { options_.items.push_back(item_of(word, base64_)); });
  }
  void limit(CLI::App* command, const char* what) {
    command->add_option("--limit", options_.limit, what)
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000));
  }
  void one_host(CLI::App* command) {
    later_.emplace_back("--host", command->add_option("--host")->group(""));
    later_.emplace_back("--all", command->add_flag("--all")->group(""));
  }

  void add_host_commands() {
    command("status", "This host at a glance");
    prefix(command("lists", "Every list of this host, or one of them closely"), "A list", false);
    one_host(command("quiet", "No new runs on this host"));
    CLI::App* resume = command("resume", "End of a list's pause, or of this host's quiet");
    prefix(resume, "The paused list; without one, this host", false);
    one_host(resume);
    one_host(command("reload", "This host reads its config again"));
    one_host(command("drain", "This host ends its work, and then itself"));
    CLI::App* cancel = command("cancel", "End a run of this host");
    words(cancel, "RUN-ID", "The run", [this](std::string&& word) { options_.run = word; })
        ->required()
        ->expected(1);
    add_check_executor();
  }

  void add_check_executor() {
    CLI::App* check = command("check-executor", "Try an executor: --caps, then one item");
    words(check, "PATH", "The executor", [this](std::string&& word) { options_.program = word; })
        ->required()
        ->expected(1);
    words(check, "ARGS", "Its own arguments, before those of the protocol (after --)",
          [this](std::string&& word) { options_.args.push_back(std::move(word)); })
        ->expected(1, many)
        ->allow_extra_args();
    items(check, "--item", "The item that it is tried with (default: check)")
        ->type_name("ITEM")
        ->expected(1);
    words(check, "--timeout", "How long the run may take (default: 1m)",
          [this](std::string&& word) { options_.period = duration_of("--timeout", word); })
        ->type_name("D")
        ->expected(1);
  }

  void add_history_commands() {
    CLI::App* runs = command("runs", "Finished runs, newest first");
    prefix(runs, "A list (default: all of the config)", false);
    items(runs, "--item", "Only runs of this item")->type_name("ITEM")->expected(1);
    runs->add_flag("--failed", options_.failed, "Only runs that did not succeed");
    limit(runs, "No more than so many (default: 50)");
    CLI::App* show = command("show", "A run: its result, the end of its standard error");
    words(show, "RUN-ID", "The run", [this](std::string&& word) { options_.run = word; })
        ->required()
        ->expected(1);
    words(show, "--list", "Look only there",
          [this](std::string&& word) { options_.prefix = prefix_of(std::move(word)); })
        ->type_name("PREFIX")
        ->expected(1);
    CLI::App* watch = command("watch", "Events of runs as they happen, on all hosts");
    prefix(watch, "A list (default: all of the config)", false);
    limit(watch, "End after so many");
  }

  void add_list_commands() {
    CLI::App* show = command("items", "The items of a list: free, running, resting, quarantined");
    prefix(show, "The list");
    show->add_option("--state", options_.state, "Only these")
        ->check(CLI::IsMember({"free", "running", "resting", "quarantined"}));
    CLI::App* add = changes("add", "Put items at the end of a list");
    add->add_flag("--again", options_.again, "Also items that are in the list already");
    changes("remove", "Take items off a list, all copies; what runs finishes");
    changes("quarantine", "Keep items from being run until they are released");
    changes("release", "End the rest or the quarantine of items, and forget their failures");
    CLI::App* pause = command("pause", "No new runs of a list on any host");
    prefix(pause, "The list");
    words(pause, "--reason", "Shown to whoever asks why",
          [this](std::string&& word) { options_.reason = std::move(word); })
        ->type_name("R")
        ->expected(1);
    words(pause, "--for", "Ends by itself after this time",
          [this](std::string&& word) { options_.period = duration_of("--for", word); })
        ->type_name("D")
        ->expected(1);
  }

  CLI::App* changes(const char* name, const char* what) {
    CLI::App* change = command(name, what);
    prefix(change, "The list");
    items(change, "ITEM", "Items")->required()->expected(1, many)->allow_extra_args();
    return change;
  }

  void add_later_commands() {
    for (const char* name : later_commands) {
      CLI::App* later = command(name, "")->group("")->allow_extras()->prefix_command();
      later->fallthrough(false)->set_help_flag();
    }
  }

  Options& options_;
  CLI::App app_{"Looks after w8yd and its lists.", "w8yctl"};
  std::vector<std::function<void()>> takes_;
  std::vector<std::pair<const char*, const CLI::Option*>> later_;
  bool base64_ = false;
};

}  // namespace

bool parse_options(int argc, char** argv, Options& options, int& exit) {
  CommandLine line(options);
  std::vector<std::string> words;  // the last first, as CLI11 takes them
  for (int i = argc - 1; i > 0; --i) {
    std::string word = argv[i];
    if (in_brackets(word)) word.insert(word.begin(), mark);
    words.push_back(std::move(word));
  }
  try {
    line.app().parse(std::move(words));
  } catch (const CLI::Success& asked) {  // --help, --version
    exit = line.app().exit(asked);
    return false;
  } catch (const CLI::Error& error) {
    throw Failure(wrong_usage, line.mistake(error));
  }
  line.take();
  return true;
}

}  // namespace w8y::app::ctl
