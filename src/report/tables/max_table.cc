#include "report/tables/max_table.h"

#include <fmt/format.h>

#include "base/units.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

using Keep = Column::Keep;
using Form = Column::Form;

/// "8 drop"
std::string fails_text(const MaxFormat& format) {
    const MaxRun* run = run_of_one_more(format);
    if (run == nullptr) return "";
    const bool one = *format.fails_at == 1;
    const char* what = run->missed > 0 ? (one ? "drops" : "drop") : (one ? "fails" : "fail");
    return fmt::format("{} {}", show_count(*format.fails_at), what);
}

std::string headroom_text(const MaxFormat& format) {
    const MaxRun* run = format.decided(format.streams);
    if (run == nullptr || !run->margin_p1_ns) return "";
    return fmt::format("{} ({:.1f} frames)", show_duration({*run->margin_p1_ns}),
                       *run->margin_p1_percent / 100);
}

}  // namespace

const MaxRun* run_of_one_more(const MaxFormat& format) {
    return format.fails_at ? format.decided(*format.fails_at) : nullptr;
}

std::string plays_text(const MaxFormat& format, const MaxResult& result) {
    std::string out = format.at_least.empty() ? "plays " : "plays at least ";
    out += format.streams == 0 && format.at_least.empty() ? "none" : show_count(format.streams);
    if (format.streams == 0) return out;
    const std::uint64_t all = format.streams * result.streams_of_one();
    if (result.counts == MaxCounts::streams_per_seat)
        return out + fmt::format(" a seat, {} in all", show_count(all));
    if (result.counts == MaxCounts::seats) {
        return out + fmt::format(" {}, {}", format.streams == 1 ? "seat" : "seats", counted(all, "stream"));
    }
    if (result.seats == 1) return out;
    const std::uint64_t each = format.streams / result.seats;
    const bool even = format.streams % result.seats == 0;
    return out + (even ? fmt::format(", {} a seat", show_count(each))
                       : fmt::format(", {} or {} a seat", show_count(each), show_count(each + 1)));
}

Table max_table(const MaxResult& result) {
    Table table;
    table.left("format");
    table.left("picture", Keep::where_not_zero, Form::full);
    table.right("rate", Keep::always, Form::full);
    table.left(result.counts == MaxCounts::seats ? "seats" : "streams");
    table.left("one more", Keep::where_not_zero);
    table.left("limited by", Keep::where_not_zero);
    table.right("required", Keep::always, Form::full);
    table.left("p1 margin", Keep::always, Form::full);
    for (const MaxFormat& format : result.formats) {
        const MaxRun* found = format.decided(format.streams);
        const MaxRun* failing = run_of_one_more(format);
        table.row({name_cell(format.format),
                   format.width > 0 ? fmt::format("{}x{}", format.width, format.height) : "",
                   show_fps(format.rate), plays_text(format, result), fails_text(format),
                   failing != nullptr ? to_string(failing->limit) : "",
                   found != nullptr ? show_rate(found->required_bytes_per_s) : "", headroom_text(format)});
    }
    return table;
}

}  // namespace streamsim::report
