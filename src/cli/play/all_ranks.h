// The streams and meters of all computers of a run while they play, for the view of rank 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/session/session.h"
#include "seats/ranks.h"

namespace streamsim::cli {

/// The state of a session's streams and meters, as ranks tell it to each other.
seats::RankProgress progress_of(const run::Session::Watch& watch);

class AllRanks {
public:
    AllRanks(const seats::Ranks* ranks, const run::Session& session) : ranks_(ranks), session_(session) {}
    /// "4 of 4 ranks: 8 streams, 960.0 MB/s of 955.2 MB/s, 0 missed; 4 clients, 1,234 op/s, 160.0 MB/s, 0
    /// failed". REQUIRES: there are ranks.
    std::string text(std::int64_t now_ns);

    /// One computer: its cells, under headings().
    struct Row {
        std::vector<std::string> cells;
        bool missed = false;
        bool gone = false;
    };
    static const std::vector<std::string>& headings();
    /// All that play. REQUIRES: there are ranks.
    std::vector<Row> rows(std::int64_t now_ns);

private:
    struct Rate {
        std::int64_t since_ns = 0;  // when since was taken
        seats::RankProgress since;
        bool known = false;  // there were two moments
        double read_bytes_per_s = 0, written_bytes_per_s = 0, operations_per_s = 0, meter_bytes_per_s = 0;

        void measure(const seats::RankProgress& progress, std::int64_t now_ns);
    };

    const seats::Ranks* ranks_;
    const run::Session& session_;
    Rate all_;
    std::vector<Rate> each_;  // by rank
};

}  // namespace streamsim::cli
