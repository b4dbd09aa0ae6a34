// The streams of the live view as a table. Inside view/ only.
#pragma once

#include <string>
#include <vector>

#include "view/live_lines.h"

namespace streamsim::view {

/// As many columns as fit, the most telling ones first.
class StreamTable {
public:
    /// `shown`: the streams that are in view.
    StreamTable(const ViewState& state, const std::vector<std::size_t>& shown, int columns);

    ViewLine heading() const;
    ViewLine row(std::size_t stream) const;

private:
    struct Column {
        const char* heading;
        std::size_t width;
        bool right;
        std::string (StreamTable::*cell)(const StreamView& stream) const;
    };
    void choose(const std::vector<std::size_t>& shown, std::size_t columns);
    std::string marker(bool selected) const { return marked_ ? (selected ? "> " : "  ") : ""; }

    std::string state_cell(const StreamView& stream) const;
    std::string label_cell(const StreamView& stream) const;
    std::string clip_cell(const StreamView& stream) const;
    std::string bar_cell(const StreamView& stream) const;
    std::string buffer_cell(const StreamView& stream) const;
    std::string lately_cell(const StreamView& stream) const;
    std::string tightest_cell(const StreamView& stream) const;
    std::string drops_cell(const StreamView& stream) const;
    std::string stalls_cell(const StreamView& stream) const;
    std::string last_cell(const StreamView& stream) const;
    std::string played_cell(const StreamView& stream) const;
    std::string read_cell(const StreamView& stream) const;

    const ViewState& state_;
    std::vector<Column> columns_;
    bool marked_ = false;
    bool short_labels_ = false;
    std::size_t bar_cells_ = 0;
};

/// The word for a stream's state, and its paint.
const char* state_word(const StreamView& stream);
Paint state_paint(const StreamView& stream);

}  // namespace streamsim::view
