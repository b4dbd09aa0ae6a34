// The sentences about a cause, for an editor and for an engineer. Inside judge/ only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// The missed frames of one cause, as its sentences need them.
struct CauseFrames {
    const std::vector<const MissedFrame*>& missed;
    const Evidence& run;
    std::string what;  // the frames in words: see slow_frames()
};
struct TimeSpan {
    std::int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
};
/// From the first submission to the last deadline.
TimeSpan due_span(const std::vector<const MissedFrame*>& missed);
/// From the first submission to the last deadline or delivery.
TimeSpan delivery_span(const std::vector<const MissedFrame*>& missed);

/// "12 frames were late or dropped"; where play waits for late frames: "play stalled 3 times for 1.2 s in all,
/// waiting for frames".
std::string slow_frames(std::uint64_t frames, std::uint64_t stalls, std::int64_t stall_ns);

/// The throughput gaps in which the frames were due: "for 520.0 ms", "2 times, for 520.0 ms and 510.0 ms";
/// empty: there was none.
std::string gaps_text(const CauseFrames& of);

/// Fills in summary and detail.
void describe(CauseResult& cause, const CauseFrames& of);

/// The advice for a cause; empty: there is none.
std::string what_next(Cause cause, const CauseFrames& of);

/// The frames and stalls of a cause in words, `failed` of the frames: "24 frames failed, and play stalled 2
/// times for 1.2 s in all, waiting for frames".
std::string lost_frames(const CauseResult& cause, std::uint64_t failed, std::int64_t stall_ns);
/// Fills in the sentences of Cause::injected_fault, and of Cause::unknown where faults were injected.
void describe_injected(CauseResult& cause, const CauseFrames& of);

// Storage that vanished, and resources that this computer lacked: shortage_sentences.cc.

void describe_gone(CauseResult& cause, const CauseFrames& of);
void describe_memory(CauseResult& cause, const CauseFrames& of);
void describe_resources(CauseResult& cause, const CauseFrames& of);
/// True: lack of memory is possible and not certain.
bool may_lack_memory(const CauseFrames& of);
/// Fills in the cause where that is so.
void describe_unknown_memory(CauseResult& cause, const CauseFrames& of);
/// The advice for these causes; empty: it is another cause.
std::string next_of_shortage(Cause cause);

/// "read without deadlines the storage gives 98 MB/s as played (...), ...; 120 MB/s are required"; empty: it
/// was not measured.
std::string rates_text(const Evidence& evidence);

// The network: network_sentences.cc.

/// Fills in summary and detail of Cause::network_loss and network_down.
void describe_path(CauseResult& cause, const CauseFrames& of);
/// How the host of a server answered while no stream received data; empty: it did not, or that is not known.
std::string host_answers(const CauseFrames& of);
/// True: one processor was full while most of these frames were missed, or in most of that time, and may be
/// why.
bool may_be_a_processor(const CauseFrames& of);
/// Fills in the cause where that is so.
void describe_full_processor(CauseResult& cause, const CauseFrames& of);
std::string next_of_full_processor(const CauseFrames& of);
/// How to tell a connection that is the only one from the storage; empty: there are several, or that is not
/// known.
std::string next_of_one_connection(const CauseFrames& of);
/// Why neither the storage nor the network is known to be the cause.
std::string unknown_path_text(const CauseFrames& of);
/// True: some of these frames were missed in a throughput gap.
bool in_throughput_gap(const CauseFrames& of);

}  // namespace streamsim::judge
