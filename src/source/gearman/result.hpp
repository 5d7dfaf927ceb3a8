// Packets that report a run to gearmand.
#pragma once

#include <string>

#include "core/ended_run.hpp"
#include "core/source.hpp"

namespace w8y::source::packets {

std::string complete_packet(const std::string& handle, const std::string& result);
/// Returns the packet for progress or updates; empty = none.
std::string news_packet(const std::string& handle, const RunEvent& event);
/// Returns WORK_COMPLETE, or WORK_EXCEPTION and WORK_FAIL.
std::string end_packets(const std::string& handle, const EndedRun& run);
/// Returns WORK_EXCEPTION and WORK_FAIL.
std::string failure_packets(const std::string& handle, const std::string& why);
/// Returns whether another worker must run the job, because this host ended the run for a reason of
/// its own.
bool gives_back(const Outcome& outcome);

}  // namespace w8y::source::packets
