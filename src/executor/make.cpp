#include "executor/make.hpp"

#include <array>

#include "executor/process_executor.hpp"

namespace w8y::executor {

namespace {

/// A way to run items: the first that serves a rule is taken, so the better ones stand first.
struct Way {
  bool (*serves)(const Rule& rule, const Caps& caps);
  std::unique_ptr<Executor> (*make)(loop::Loop& loop, const ExecutorOptions& options,
                                    RunHandler& handler);
};

template <typename Kind>
std::unique_ptr<Executor> make(loop::Loop& loop, const ExecutorOptions& options,
                               RunHandler& handler) {
  return std::make_unique<Kind>(loop, handler, options);
}

constexpr std::array ways{
    Way{[](const Rule& rule, const Caps& caps) { return rule.is_command() || caps.has("single"); },
        make<ProcessExecutor>},
};

const Way* way_for(const Rule& rule, const Caps& caps) {
  for (const Way& way : ways)
    if (way.serves(rule, caps)) return &way;
  return nullptr;
}

}  // namespace

std::unique_ptr<Executor> make_executor(loop::Loop& loop, const ExecutorOptions& options,
                                        RunHandler& handler, const Rule& rule, const Caps& caps) {
  const Way* way = way_for(rule, caps);
  return way == nullptr ? nullptr : way->make(loop, options, handler);
}

std::string why_not(const Rule& rule, const Caps& caps) {
  for (const std::string& cap : rule.requires_caps)
    if (!caps.has(cap)) return "lacks \"" + cap + '"';
  if (way_for(rule, caps) == nullptr)
    return caps.has("stream") ? "offers only \"stream\", which this version does not run yet"
                              : "lacks \"single\"";
  return {};
}

}  // namespace w8y::executor
