#include "view/statistics.hpp"

#include <algorithm>
#include <array>

#include "core/json_object.hpp"
#include "core/number.hpp"
#include "view/field.hpp"
#include "view/json_fields.hpp"

namespace w8y::view {

namespace {

using Kind = StatisticsMark::Kind;

/// Names of the kinds, in the order of the enum.
constexpr std::array mark_kinds = {"start", "reload", "breaker"};

void put_percentile(core::JsonObject& json, const char* name, const DurationBins& bins,
                    unsigned percent) {
  if (const auto value = bins.percentile(percent)) json.put(name, value->count());
}

void put_counts(core::JsonObject& json, const StatisticsBucket& bucket) {
  json.put("runs", bucket.runs);
  json.put("failed", bucket.failed);
  put_percentile(json, "p50_ms", bucket.durations, 50);
  put_percentile(json, "p95_ms", bucket.durations, 95);
  put_percentile(json, "cycle_p50_ms", bucket.cycles, 50);
  put_percentile(json, "cycle_p95_ms", bucket.cycles, 95);
}

void put_mark(core::JsonObject& json, const StatisticsMark& mark) {
  json.put("kind", kind_name(mark.kind));
  if (!mark.host.empty()) json.put("host", mark.host);
  if (mark.list) json.put_bytes("list", *mark.list);
  json.put("text", cut_text(mark.text, StatisticsMark::max_text));
}

}  // namespace

void StatisticsBucket::add(const StatisticsBucket& more) {
  runs += more.runs;
  failed += more.failed;
  durations += more.durations;
  cycles += more.cycles;
}

std::optional<StatisticsBucket> read_bucket(std::string_view text) {
  std::array<std::string_view, 5> parts;
  for (std::string_view& part : parts) {
    part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  const auto start = read_integer(parts[0], {0, ms_range.max / 60'000});
  const auto runs = read_integer(parts[1], count_range);
  const auto failed = read_integer(parts[2], count_range);
  if (!start || !runs || !failed || !text.empty()) return std::nullopt;
  return StatisticsBucket{std::chrono::minutes(*start), static_cast<std::uint64_t>(*runs),
                          static_cast<std::uint64_t>(*failed), DurationBins::parse(parts[3]),
                          DurationBins::parse(parts[4])};
}

const char* kind_name(Kind kind) {
  return mark_kinds[static_cast<std::size_t>(kind)];
}

std::string to_text(const StatisticsMark& mark) {
  core::JsonObject json(128 + mark.text.size());
  json.put("at_ms", mark.at.count());
  put_mark(json, mark);
  return json.finish();
}

std::optional<StatisticsMark> read_mark(std::string_view text) {
  const auto json = JsonFields::parse(text, max_mark);
  const auto at = json ? json->ms("at_ms") : std::nullopt;
  if (!at) return std::nullopt;
  const std::string kind = json->text("kind");
  for (std::size_t i = 0; i < mark_kinds.size(); ++i)
    if (kind == mark_kinds[i])
      return StatisticsMark{*at, static_cast<Kind>(i), json->text("host"), json->bytes("list"),
                            json->text("text")};
  return std::nullopt;
}

StatisticsBucket Statistics::total() const {
  StatisticsBucket sum;
  for (const StatisticsBucket& bucket : buckets) sum.add(bucket);
  return sum;
}

std::string to_json(const Statistics& statistics) {
  core::AsciiObject json(128 + 96 * statistics.buckets.size());
  if (statistics.list) json.put_bytes("list", *statistics.list);
  json.put("span", statistics.span.name);
  json.put("at_ms", statistics.now.count());
  json.put("bucket_ms", statistics.span.length * 60'000);
  core::AsciiObject total;
  put_counts(total, statistics.total());
  json.put_json("total", total.finish());
  json.put_json("buckets", core::json_array(statistics.buckets, [](const StatisticsBucket& bucket) {
                  core::AsciiObject one(96);
                  one.put("at_ms", bucket.at.count());
                  put_counts(one, bucket);
                  return one.finish();
                }));
  json.put_json("marks", core::json_array(statistics.marks, [](const StatisticsMark& mark) {
                  core::AsciiObject one(256);
                  one.put("at_ms", mark.at.count());
                  put_mark(one, mark);
                  return one.finish();
                }));
  return json.finish();
}

}  // namespace w8y::view
