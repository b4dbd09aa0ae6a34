#include "run/ranks_words.h"

namespace streamsim {

Json words_of(std::span<const FrameRow> rows) {
    Json out = Json::array();
    for (const FrameRow& row : rows) {
        const FrameOutcome& o = row.outcome;
        out.push_back({row.seat, row.stream, row.file, o.slot, o.clip_frame, o.source, o.sought,
                       static_cast<int>(o.kind), static_cast<int>(o.reason), o.error, o.bytes, o.scheduled.ns,
                       o.submitted.ns, o.opened.ns, o.open_time.ns, o.deadline.ns, o.delivered.ns,
                       o.completed.ns});
    }
    return out;
}

void add_rows(const Json& words, std::vector<FrameRow>& rows) {
    for (const Json& row : words) {
        FrameRow& to = rows.emplace_back();
        std::size_t next = 0;
        const auto take = [&row, &next](auto& into) { row.at(next++).get_to(into); };
        const auto take_enum = [&row, &next](auto& into) {
            into = static_cast<std::remove_reference_t<decltype(into)>>(row.at(next++).get<int>());
        };
        take(to.seat);
        take(to.stream);
        take(to.file);
        FrameOutcome& o = to.outcome;
        take(o.slot);
        take(o.clip_frame);
        take(o.source);
        take(o.sought);
        take_enum(o.kind);
        take_enum(o.reason);
        take(o.error);
        take(o.bytes);
        for (std::int64_t* ns : {&o.scheduled.ns, &o.submitted.ns, &o.opened.ns, &o.open_time.ns,
                                 &o.deadline.ns, &o.delivered.ns, &o.completed.ns})
            take(*ns);
    }
}

}  // namespace streamsim
