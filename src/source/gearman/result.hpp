// What a gearmand is told of a run, in packets.
#pragma once

#include <string>
#include <vector>

#include "core/ended_run.hpp"
#include "core/source.hpp"

namespace w8y::source::packets {

std::string complete_packet(const std::string& handle, const std::string& result);
/// Of progress and updates; empty: nothing is told of it.
std::string news_packet(const std::string& handle, const RunEvent& event);
/// WORK_COMPLETE, or WORK_EXCEPTION and WORK_FAIL.
std::string end_packets(const std::string& handle, const EndedRun& run);
/// WORK_EXCEPTION and WORK_FAIL.
std::string failure_packets(const std::string& handle, const std::string& why);
/// The job is to be another's: this host ended its run for a reason of its own.
bool gives_back(const Outcome& outcome);

}  // namespace w8y::source::packets
