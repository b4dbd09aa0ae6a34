// The tables of the text report, and how reports for people show numbers and names. Inside report/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// Columns as wide as their widest field; a column in which every row says "0" or nothing can be left out.
class TextTable {
public:
    enum class Align { left, right };
    enum class Keep { always, where_not_zero };

    void column(std::string heading, Align align, Keep keep = Keep::always);
    /// REQUIRES: a field for each column.
    void row(std::vector<std::string> fields);
    /// Each line indented by two and ended by a newline; the last column is not padded.
    std::string text() const;

private:
    struct Column {
        std::string heading;
        Align align;
        Keep keep;
    };
    bool shown(std::size_t column) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// With its heading; empty when there is nothing to show.
std::string parts_table(const RunResult& result);
/// Of a run over several computers.
std::string seats_table(const RunResult& result);
std::string streams_table(const RunResult& result);
std::string drops_table(const RunResult& result);

/// "24 fps", "23.976 fps"
std::string show_fps(FrameRate rate);
/// "1 frame", "1,024 frames"
std::string counted(std::uint64_t count, std::string_view one);

/// That one computer played.
std::uint64_t streams_of(const SeatResult& seat, const RunResult& result);
/// There is more than seat 0.
bool several_seats(const RunResult& result);
/// "3", or "2.3" with the seat.
std::string stream_name(std::uint32_t seat, std::uint32_t stream, bool with_seat);
/// "dpx12", "recorded dpx12" or "durably recorded dpx12".
std::string kind_of(const StreamResult& stream);
/// Some stream writes its frames.
bool records(const RunResult& result);
/// And reads nothing.
bool only_records(const RunResult& result);
/// Of all streams, at most `limit`: where the trouble began. Indices of result.drops.
std::vector<std::size_t> earliest_drops(const RunResult& result, std::size_t limit);
/// At most `limit`, the fullest first: around the missed frames, where there were any. Indices of result.parts.
std::vector<std::size_t> fullest_parts(const RunResult& result, std::size_t limit);
/// "48 %"; empty where it is not known.
std::string show_share(const std::optional<double>& share);
/// Of the blocks that a cache was asked for: "75 % of 40"; empty where it was asked for none.
std::string show_hits(const PartStats& stats);
/// Why a slot was missed, in words for people.
std::string show_reason(const DropRecord& drop, bool modelled);
/// How long after its deadline it came: "31.2 ms", "never came".
std::string show_lateness(const DropRecord& drop);

}  // namespace streamsim::report
