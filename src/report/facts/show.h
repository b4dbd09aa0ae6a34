// How reports show the numbers and names of a result. Inside report/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// "24 fps", "23.976 fps"
std::string show_fps(FrameRate rate);
/// "3", or "2.3" with the seat.
std::string stream_name(std::uint32_t seat, std::uint32_t stream, bool with_seat);
/// The format, and that the stream is recorded: "dpx12", "recorded dpx12", "durably recorded dpx12".
std::string kind_of(const StreamResult& stream);
/// The bytes of the time line: "read"; "recorded" where all streams record, "moved" where some do.
const char* moved_word(const RunResult& result);
/// "48 %"; empty for nullopt.
std::string show_percent(const std::optional<double>& share);
/// Cache hits of a model's part: "75 % of 40"; empty when nothing was requested.
std::string show_hits(const PartStats& stats);
/// The first frame of an event by time code and file: "00:00:02:04 frame.0000052.dpx (stream 3)".
std::string show_first_frame(const RunResult& result, const MissEvent& event);
/// "0:02.083 for 500.0 ms: 48 frames on 4 streams, storage-stall, first 00:00:02:04 frame.0000052.dpx (stream
/// 3)"
std::string show_event(const RunResult& result, const MissEvent& event);
/// "median 12.3 ms, p99 20.1 ms, max 30.0 ms"
std::string show_latency(const LatencySummary& latency);
/// The latencies of this computer's timers.
std::string show_lateness(const ClientEvidence& client);
/// "min -120.0 ms, p1 35.0 ms, median 290.0 ms"
std::string show_margin(const MarginSummary& margin);
/// "7:03.467", "1:02:03.000"; without the milliseconds if they are not wanted.
std::string show_clock(std::int64_t ns, bool with_ms);
/// Operations a second: "12,345", "0.25"; below 10 with three digits.
std::string show_per_second(double rate);
/// "4 KiB", "1 MiB"; in bytes when the size is no whole number of KiB.
std::string show_block(std::uint64_t bytes);
/// "0 to 3, 7"; REQUIRES: ascending.
std::string show_seats(const std::vector<std::uint32_t>& seats);
/// The growth of a counter: "+8.1 GB" where its name ends in "_bytes", else "+12,345".
std::string show_difference(const CounterChange& counter);
/// "NFSv4.2 from isilon, 8 connections, reads of up to 1 MiB, the kernel reads 15 MiB ahead"
std::string show_share(const MountFacts& mount);

}  // namespace streamsim::report
