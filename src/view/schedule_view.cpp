#include "view/schedule_view.hpp"

namespace w8y::view {

namespace {

using S = ScheduleView;

void write_queues(core::JsonObject& json, std::string_view name, const S& schedule, Surface) {
  json.put_json(name, core::json_array(schedule.queues, [](const S::Queue& each) {
                  core::AsciiObject queue;
                  queue.put_bytes("code", each.code);
                  queue.put("queued", each.queued);
                  return queue.finish();
                }));
}

void write_due_next(core::JsonObject& json, std::string_view name, const S& schedule, Surface) {
  json.put_json(name, core::json_array(schedule.next, [](const S::DueJob& each) {
                  core::AsciiObject job;
                  job.put_bytes("job", each.job);
                  MaybeTime::write(job, "due_ms", each.due, api);
                  return job.finish();
                }));
}

void write_oldest_due(core::JsonObject& json, std::string_view name, const S& schedule, Surface) {
  MaybeTime::write(json, name, schedule.next.empty() ? std::nullopt : schedule.next.front().due,
                   api);
}

void write_quarters(core::JsonObject& json, std::string_view name, const S& schedule, Surface) {
  json.put_json(name, core::json_array(schedule.due_per_15min,
                                       [](std::int64_t count) { return std::to_string(count); }));
}

constexpr Field<S> schedule_fields[] = {
    shown_field<S, Bytes, &S::list>("list", api),
    shown_field<S, Bytes, &S::key_prefix>("key_prefix", api),
    shown_field<S, Flag, &S::halted>("halted", api),
    {"queues", api, write_queues, nullptr},
    shown_field<S, Number, &S::timeline>("timeline", api),
    shown_field<S, Number, &S::late>("late", api),
    {"oldest_due_ms", api, write_oldest_due, nullptr},
    {"due_next", api, write_due_next, nullptr},
    {"due_per_15min", api, write_quarters, nullptr},
};

constexpr Field<FeedView> feed_fields[] = {
    shown_field<FeedView, Bytes, &FeedView::list>("list", api),
    shown_field<FeedView, Number, &FeedView::queued>("queued", api),
    shown_field<FeedView, Number, &FeedView::claimed>("claimed", api),
    shown_field<FeedView, Number, &FeedView::cancelled>("cancelled", api),
    shown_field<FeedView, Number, &FeedView::stalled>("stalled", api),
    shown_field<FeedView, Number, &FeedView::published>("published", api),
    shown_field<FeedView, Number, &FeedView::finished>("finished", api),
    shown_field<FeedView, MaybeTime, &FeedView::oldest>("oldest_ms", api),
};

}  // namespace

std::string to_json(const ScheduleView& schedule) {
  core::AsciiObject json(512);
  put_fields(json, schedule_fields, schedule, api);
  return json.finish();
}

std::string to_json(const FeedView& feed) {
  core::AsciiObject json(256);
  put_fields(json, feed_fields, feed, api);
  return json.finish();
}

}  // namespace w8y::view
