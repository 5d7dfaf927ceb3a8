#include "source/gearman/result.hpp"

#include <array>
#include <charconv>

#include "gearman/packet.hpp"

namespace w8y::source::packets {

namespace {

using w8y::gearman::PacketType;
using w8y::gearman::request;

/// Returns the shortest text that parses to this number.
std::string number_text(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::string(text.data(), end) : "0";
}

}  // namespace

std::string complete_packet(const std::string& handle, const std::string& result) {
  return request(PacketType::work_complete, {handle, result});
}

std::string news_packet(const std::string& handle, const RunEvent& event) {
  switch (event.kind) {
    case RunEvent::Kind::start:
      break;
    case RunEvent::Kind::progress:
      return request(PacketType::work_status, {handle, number_text(event.progress.numerator),
                                               number_text(event.progress.denominator)});
    case RunEvent::Kind::update:
      return request(PacketType::work_data, {handle, event.data});
  }
  return {};
}

std::string failure_packets(const std::string& handle, const std::string& why) {
  return request(PacketType::work_exception, {handle, why}) +
         request(PacketType::work_fail, {handle});
}

std::string end_packets(const std::string& handle, const EndedRun& run) {
  if (std::holds_alternative<Succeeded>(run.outcome)) return complete_packet(handle, "{}");
  std::string why = outcome_reason(run.outcome);
  if (why.empty()) why = outcome_name(run.outcome);
  if (!run.end.stderr_tail.empty()) why += "\n" + run.end.stderr_tail;
  return failure_packets(handle, why);
}

bool gives_back(const Outcome& outcome) {
  const auto* cancelled = std::get_if<Cancelled>(&outcome);
  return cancelled != nullptr && !cancelled->by_operator;
}

}  // namespace w8y::source::packets
