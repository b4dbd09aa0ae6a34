#include "seats/rank_messages.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

namespace streamsim::seats {
namespace {

/// Ends a row: no file name contains this character.
constexpr char kRowEnd = '\0';

Json::other_error no_row() {
    return Json::other_error::create(501, "a row of frames is cut", nullptr);
}

/// Takes the numbers of a row, one after the other.
class RowReader {
public:
    explicit RowReader(std::string_view row) : rest_(row) {}

    template <typename Number>
    void take(Number& into) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
        if (error != std::errc() || end == rest_.data() + rest_.size() || *end != ' ') throw no_row();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 1);
    }
    template <typename Enum>
    void take_enum(Enum& into) {
        int value = 0;
        take(value);
        into = static_cast<Enum>(value);
    }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

}  // namespace

Json to_json(std::span<const FrameRow> rows) {
    std::string out;
    for (const FrameRow& row : rows) {
        const FrameOutcome& o = row.outcome;
        fmt::format_to(std::back_inserter(out), "{} {} {} {} {} {} {} {} {} {} ", row.seat, row.stream, o.slot,
                       o.clip_frame, o.source, static_cast<int>(o.sought), static_cast<int>(o.kind),
                       static_cast<int>(o.reason), o.error, o.bytes);
        for (const std::int64_t ns : {o.scheduled.ns, o.submitted.ns, o.opened.ns, o.open_time.ns,
                                      o.deadline.ns, o.delivered.ns, o.completed.ns})
            fmt::format_to(std::back_inserter(out), "{} ", ns);
        out += row.file;
        out += kRowEnd;
    }
    return out;
}

void add_rows(const Json& json, std::vector<FrameRow>& rows) {
    std::string_view text = json.get_ref<const std::string&>();
    while (!text.empty()) {
        const std::size_t end = text.find(kRowEnd);
        if (end == std::string_view::npos) throw no_row();
        RowReader row(text.substr(0, end));
        text.remove_prefix(end + 1);
        FrameRow to;
        FrameOutcome& o = to.outcome;
        int sought = 0;
        row.take(to.seat);
        row.take(to.stream);
        row.take(o.slot);
        row.take(o.clip_frame);
        row.take(o.source);
        row.take(sought);
        o.sought = sought != 0;
        row.take_enum(o.kind);
        row.take_enum(o.reason);
        row.take(o.error);
        row.take(o.bytes);
        for (std::int64_t* ns : {&o.scheduled.ns, &o.submitted.ns, &o.opened.ns, &o.open_time.ns,
                                 &o.deadline.ns, &o.delivered.ns, &o.completed.ns})
            row.take(*ns);
        to.file = row.rest();
        rows.push_back(std::move(to));
    }
}

}  // namespace streamsim::seats
