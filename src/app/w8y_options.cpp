#include "app/w8y_options.hpp"

#include <getopt.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace w8y::app {

namespace {

constexpr int wrong_usage = 2;
constexpr unsigned max_expiry = 86400U * 365U;

/// Letters of options that have only a long name.
enum : int { lock_key_option = 256, version_option };

struct Option {
  int letter;
  const char* name;
  const char* value;  ///< nullptr: the option has no value
  const char* meaning;
};

// Uses getopt: a library that builds a model of the command line takes 1/4 of the time that is
// needed to start and end the child.
constexpr std::array known{
    Option{'u', "redis-url", "URL",
           "Redis to connect to (default: $W8Y_REDIS_URL, else redis://localhost:6379)"},
    Option{'k', "key-prefix", "PREFIX", "Prefix of all keys; ':' is appended if missing"},
    Option{'x', "key-expiry", "SECONDS",
           "Seconds until a lock expires that is not renewed (default: 5)"},
    Option{'e', "env-var", "NAME", "Environment variable that holds the item"},
    Option{'c', "continuous", nullptr, "Run item after item"},
    Option{'i', "exit-codes", "CODE,...", "With -c, continue after these exit codes (default: 0)"},
    Option{'q', "quiet", nullptr, "Log nothing to standard error; child output is unaffected"},
    Option{'f', "log-file", "FILE", "Append log lines to this file, also with -q"},
    Option{'t', "no-log-timestamps", nullptr, "Write no time in log lines"},
    Option{lock_key_option, "lock-key", "lock|proc", "Name of lock keys (default: lock)"},
    Option{'h', "help", nullptr, "Print this help and exit"},
    Option{version_option, "version", nullptr, "Print the version and exit"},
};

void print_help() {
  std::puts(
      "Usage: w8y [OPTIONS] executable [args...]\n"
      "Runs an executable on the next free item of a circular list in Redis.\n");
  for (const Option& option : known) {
    std::string words = option.letter < 256
                            ? std::string{'-', static_cast<char>(option.letter)} + ", "
                            : std::string(4, ' ');
    words.append("--").append(option.name);
    if (option.value != nullptr) words.append("=").append(option.value);
    std::printf("  %-28s %s\n", words.c_str(), option.meaning);
  }
  std::puts(
      "\nArguments after the executable are passed on; use {} as a placeholder for the item.\n"
      "Exit status: that of the child, 128 + N if signal N killed it, 0 if there was nothing to "
      "do,\n"
      "2 for wrong usage or if Redis cannot be reached.");
}

bool complain(const std::string& what) {
  std::fprintf(stderr, "w8y: %s (see w8y --help)\n", what.c_str());
  return false;
}

std::optional<unsigned> number_in(std::string_view text, unsigned least, unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < least || number > most) return std::nullopt;
  return number;
}

bool parse_exit_codes(std::string_view text, std::vector<int>& codes) {
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto code = number_in(text.substr(0, comma), 0, 255);
    if (!code)
      return complain("--exit-codes: '" + std::string(text) + "' is not a number from 0 to 255");
    codes.push_back(static_cast<int>(*code));
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool parse_option(int letter, const std::string& value, W8yOptions& options) {
  switch (letter) {
    case 'u':
      options.redis_url = value;
      return true;
    case 'k':
      options.key_prefix = value;
      return true;
    case 'x': {
      const auto seconds = number_in(value, 1, max_expiry);
      if (!seconds)
        return complain("--key-expiry: '" + value + "' is not a number of seconds from 1 to " +
                        std::to_string(max_expiry));
      options.key_expiry = std::chrono::seconds(*seconds);
      return true;
    }
    case 'e':
      options.env_var = value;
      return true;
    case 'c':
      options.continuous = true;
      return true;
    case 'i':
      return parse_exit_codes(value, options.exit_codes);
    case 'q':
      options.quiet = true;
      return true;
    case 'f':
      options.log_file = value;
      return true;
    case 't':
      options.timestamps = false;
      return true;
    case lock_key_option:
      if (value != "lock" && value != "proc")
        return complain("--lock-key: '" + value + "' is neither lock nor proc");
      options.lock_key = value;
      return true;
    default:
      return true;
  }
}

/// Returns the letter of the next option; -1 at the end. '+': options end at the executable. ':'
/// distinguishes a missing value from an unknown option.
int next_option(int argc, char** argv) {
  static std::string letters = "+:";
  static std::array<option, known.size() + 1> names{};
  if (names.front().name == nullptr) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      const int takes = known[i].value == nullptr ? no_argument : required_argument;
      names[i] = {known[i].name, takes, nullptr, known[i].letter};
      if (known[i].letter >= 256) continue;
      letters += static_cast<char>(known[i].letter);
      if (takes == required_argument) letters += ':';
    }
  }
  return getopt_long(argc, argv, letters.c_str(), names.data(), nullptr);
}

/// Returns the unknown option. In a group of letters ("-abc"), getopt has not advanced to the next
/// argument yet, so only the letter is returned.
std::string unknown_word(char** argv) {
  for (const Option& option : known)
    if (option.letter == optopt) return argv[optind - 1];  // a value for an option that has none
  if (optopt == 0) return argv[optind - 1];
  return {'-', static_cast<char>(optopt)};
}

}  // namespace

bool parse_w8y_options(int argc, char** argv, W8yOptions& options, int& exit) {
  const char* url = std::getenv("W8Y_REDIS_URL");
  options.redis_url = url != nullptr && *url != '\0' ? url : "redis://localhost:6379";
  options.lock_key = "lock";
  options.key_expiry = std::chrono::seconds(5);

  exit = wrong_usage;
  opterr = 0;
  for (int letter = 0; (letter = next_option(argc, argv)) != -1;) {
    if (letter == '?') return complain(unknown_word(argv) + ": no such option");
    if (letter == ':') return complain(std::string(argv[optind - 1]) + ": its value is missing");
    if (letter == 'h' || letter == version_option) {
      if (letter == 'h') print_help();
      if (letter == version_option) std::puts("w8y " W8Y_VERSION);
      exit = 0;
      return false;
    }
    if (!parse_option(letter, optarg == nullptr ? "" : optarg, options)) return false;
  }
  options.command.assign(argv + optind, argv + argc);
  if (options.command.empty() || options.command.front().empty())
    return complain("no executable given");
  if (!options.key_prefix.empty() && options.key_prefix.back() == ':')
    options.key_prefix.pop_back();
  if (options.exit_codes.empty()) options.exit_codes = {0};
  return true;
}

}  // namespace w8y::app
