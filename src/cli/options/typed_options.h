// The options of the command line as they are declared and typed, before anything is checked.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"

namespace streamsim::cli {

/// Most are texts, so that all their mistakes can be told at once.
struct Typed {
    std::string target;
    std::vector<std::string> formats;
    bool dpx10 = false, dpx12 = false, prores_hd = false, prores_uhd = false;
    std::optional<std::string> fps, streams, seats, total_streams, media, duration, frames, clip_duration;
    std::optional<std::string> pattern, order, readahead, inflight, io_size, io_depth, preroll_timeout,
        decode_cpu;
    std::optional<std::string> faults, on_miss, io, stagger, seed, loops;
    std::optional<std::string> multicam, layers, cuts, confirm, headroom, find, scale, clients;
    std::optional<std::string> record;
    bool durable = false, keep_recordings = false;
    bool sync = false, audio = false, keep_index = false;
    bool direct = false, buffered = false, cold = false, require_cold = false, realtime = false,
         no_probes = false, not_alone = false;
};

/// Declares what options.command has. `options` and `typed` are where parsing puts it; both outlive the app.
void declare_options(CLI::App& app, CliOptions& options, Typed& typed);

}  // namespace streamsim::cli
