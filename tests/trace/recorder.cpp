// Records the functions that code compiled with -finstrument-functions enters and leaves.
#include "recorder.hpp"

#include <link.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace w8y::trace {

namespace {

struct Step {
  const void* function;  ///< nullptr for a mark
  const void* caller;    ///< address after the call; nullptr when the function is left
  const char* text;      ///< of a mark
};

std::vector<Step>* steps = nullptr;  ///< nullptr: nothing is recorded

int store_base(dl_phdr_info* info, std::size_t, void* base) {
  *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
  return 1;  // the first object is the program
}

}  // namespace

Recorder::Recorder() {
  static std::vector<Step> all;
  all.clear();
  all.reserve(std::size_t{1} << 20);  // so that recording allocates no memory
  steps = &all;
}

Recorder::~Recorder() {
  steps = nullptr;
}

void Recorder::mark(const char* text) {
  steps->push_back({nullptr, nullptr, text});
}

void Recorder::write(const std::string& path) {
  const std::vector<Step>& all = *std::exchange(steps, nullptr);
  std::uintptr_t base = 0;
  dl_iterate_phdr(store_base, &base);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  const auto offset = [base](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - base;
  };
  for (const Step& step : all) {
    if (step.function == nullptr) {
      std::fprintf(file, "= %s\n", step.text);
    } else if (step.caller == nullptr) {
      std::fprintf(file, "- %zx\n", offset(step.function));
    } else {
      std::fprintf(file, "+ %zx %zx\n", offset(step.function), offset(step.caller) - 1);
    }
  }
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + path);
}

}  // namespace w8y::trace

extern "C" {
void __cyg_profile_func_enter(void* function, void* caller) {
  if (w8y::trace::steps != nullptr) w8y::trace::steps->push_back({function, caller, nullptr});
}
void __cyg_profile_func_exit(void* function, void*) {
  if (w8y::trace::steps != nullptr) w8y::trace::steps->push_back({function, nullptr, nullptr});
}
}
