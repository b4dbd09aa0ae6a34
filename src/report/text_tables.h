// The tables of the text report, and how it shows numbers and names. Inside report/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim {

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
std::string streams_table(const RunResult& result);
std::string drops_table(const RunResult& result);

/// "24 fps", "23.976 fps"
std::string show_fps(FrameRate rate);
/// Control characters would reach the reader's terminal as commands: each becomes "?".
std::string printable(std::string_view text);
/// "1 frame", "1,024 frames"
std::string counted(std::uint64_t count, std::string_view one);

}  // namespace streamsim
