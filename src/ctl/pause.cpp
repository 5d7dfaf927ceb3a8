// Pauses a list on all hosts, by a key in Redis. Resumes it, or this host after quiet.
#include "core/pause.hpp"

#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/host_commands.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/changes.hpp"
#include "operator/lists.hpp"
#include "view/list_view.hpp"

namespace w8y::ctl {

namespace {

class PauseList final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix(words, "The list, or a pattern", prefix_);
    declare_reason(words, reason_);
    declare_duration(words, "--for", "a duration, such as 1h", "End the pause after this time",
                     period_);
  }

  int run(const Options& options, Context& context) override {
    verbs::QueryContext query = context.query();
    const std::vector<std::string> prefixes = verbs::lists_of(query, prefix_);
    Pause pause{reason_, operator_name(), wall_now(), WallTime(0)};
    if (period_) pause.until = pause.since + std::chrono::duration_cast<WallTime>(*period_);
    std::vector<std::string> told;
    for (const auto& prefix : prefixes) {
      verbs::pause_list(query, prefix, pause, period_);
      told.push_back(view::pause_json(prefix, pause));
      if (options.json) continue;
      std::cout << escape_text(prefix) << ": paused on all hosts"
                << (reason_.empty() ? "" : ": " + escape(reason_));
      if (period_) std::cout << "; for " << format_duration(*period_);
      std::cout << '\n';
    }
    if (options.json) print_each(told, prefixes == std::vector{prefix_});
    return done;
  }

 private:
  std::string prefix_;
  std::string reason_;
  std::optional<Duration> period_;
};

class Resume final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A paused list, or a pattern (default: this host)", prefix_);
    hosts_.declare(words);
    words.then([this] {
      if (prefix_ && hosts_.others())
        throw Failure(wrong_usage, "a list is resumed on all hosts: omit --host and --all");
    });
  }

  int run(const Options& options, Context& context) override {
    if (!prefix_) return hosts_.send_command(FleetCommandKind::resume, options, context);
    context.refuse_other_formats();
    verbs::QueryContext query = context.query();
    const std::vector<std::string> prefixes = verbs::lists_of(query, *prefix_);
    std::vector<std::string> told;
    for (const auto& prefix : prefixes) {
      const bool was_paused = verbs::resume_list(query, prefix);
      told.push_back(view::resume_json(prefix, was_paused));
      if (options.json) continue;
      std::cout << escape_text(prefix) << ": "
                << (was_paused ? "resumed on all hosts" : "was not paused") << '\n';
    }
    if (options.json) print_each(told, prefixes == std::vector{*prefix_});
    return done;
  }

 private:
  std::optional<std::string> prefix_;
  TargetHosts hosts_;
};

}  // namespace

const CommandMaker make_pause = new_command<PauseList>;
const CommandMaker make_resume = new_command<Resume>;

}  // namespace w8y::ctl
