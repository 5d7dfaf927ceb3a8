#include "executor/executor_factory.hpp"

#include <array>

#include "executor/process_executor.hpp"
#include "executor/stream_executor.hpp"

namespace w8y::executor {

bool serves_stream(const ListConfig& rule, const Caps& caps) {
  return !rule.is_command() && rule.mode != Mode::single && caps.has("stream");
}

namespace {

/// Kind of executor. The first kind that serves a list config is used, so better kinds precede.
struct Way {
  bool (*serves)(const ListConfig& rule, const Caps& caps);
  std::unique_ptr<Executor> (*make)(loop::Loop& loop, const ExecutorOptions& options,
                                    RunHandler& handler, const ListConfig& rule, const Caps& caps);
};

std::unique_ptr<Executor> make_stream(loop::Loop& loop, const ExecutorOptions& options,
                                      RunHandler& handler, const ListConfig& rule,
                                      const Caps& caps) {
  return std::make_unique<StreamExecutor>(loop, handler, options, rule, caps);
}

bool serves_single(const ListConfig& rule, const Caps& caps) {
  return rule.is_command() || (rule.mode != Mode::stream && caps.has("single"));
}

std::unique_ptr<Executor> make_single(loop::Loop& loop, const ExecutorOptions& options,
                                      RunHandler& handler, const ListConfig&, const Caps&) {
  return std::make_unique<ProcessExecutor>(loop, handler, options);
}

constexpr std::array ways{Way{serves_stream, make_stream}, Way{serves_single, make_single}};

const Way* way_for(const ListConfig& rule, const Caps& caps) {
  for (const Way& way : ways)
    if (way.serves(rule, caps)) return &way;
  return nullptr;
}

}  // namespace

std::unique_ptr<Executor> make_executor(loop::Loop& loop, const ExecutorOptions& options,
                                        RunHandler& handler, const ListConfig& rule,
                                        const Caps& caps) {
  const Way* way = way_for(rule, caps);
  return way == nullptr ? nullptr : way->make(loop, options, handler, rule, caps);
}

std::string why_not(const ListConfig& rule, const Caps& caps) {
  for (const std::string& cap : *rule.requires_caps)
    if (!caps.has(cap)) return "lacks the capability \"" + cap + '"';
  if (way_for(rule, caps) != nullptr) return {};
  if (rule.mode == Mode::automatic) return "lacks the capability \"single\" or \"stream\"";
  return rule.mode == Mode::stream ? "lacks the capability \"stream\""
                                   : "lacks the capability \"single\"";
}

}  // namespace w8y::executor
