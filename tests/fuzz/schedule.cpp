// Schedule fuzzer: any text is a schedule or has a reason. Times increase, and their cost is
// limited.
#include "schedule/schedule.hpp"

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace w8y;
  using namespace w8y::schedule;
  constexpr UnixSeconds now = 1795266000;
  const std::string_view text = fuzz::text_of(data, size);
  const Schedule schedule = parse_schedule(text, now);
  in_words(schedule, text);
  redbike_stumbles(text);
  if (const auto* bad = std::get_if<Bad>(&schedule))
    fuzz::must(!bad->why.empty(), "what is bad has a reason");
  const auto* recurrence = std::get_if<Recurrence>(&schedule);
  if (recurrence == nullptr) return 0;
  fuzz::must(!recurrence->zone().empty(), "there is a zone");
  UnixSeconds after = now;
  for (int i = 0; i < 3; ++i) {
    const auto next = recurrence->next_after(after);
    if (!next) break;
    fuzz::must(*next > after && *next <= latest_time, "the next time is later");
    recurrence->in_zone(*next);
    // A query from one second earlier has the same or an earlier result.
    const auto again = recurrence->next_after(*next - 1);
    fuzz::must(!again || *again >= *next, "nothing comes between");
    after = *next;
  }
  return 0;
}
