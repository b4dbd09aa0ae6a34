#include "seats/rank_messages.h"

#include <charconv>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace streamsim::seats {
namespace {

/// Ends a row: no file name contains this character.
constexpr char kRowEnd = '\0';

Json::other_error no_row() {
    return Json::other_error::create(501, "a row of frames is cut", nullptr);
}

/// Calls `field` with each number of a row, in the order of the message; the name of the file follows them.
template <typename Row, typename Field>
void each_number(Row& row, const Field& field) {
    auto& o = row.outcome;
    field(row.seat);
    field(row.stream);
    field(o.slot);
    field(o.clip_frame);
    field(o.source);
    field(o.sought);
    field(o.kind);
    field(o.reason);
    field(o.error);
    field(o.bytes);
    for (auto* ns : {&o.scheduled.ns, &o.submitted.ns, &o.opened.ns, &o.open_time.ns, &o.deadline.ns,
                     &o.delivered.ns, &o.completed.ns})
        field(*ns);
}

/// Takes the next number of a row from `rest`.
template <typename Number>
void take_number(std::string_view& rest, Number& into) {
    constexpr bool kPlain = std::integral<Number> && !std::same_as<Number, bool>;
    std::conditional_t<kPlain, Number, int> value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != ' ') throw no_row();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    into = static_cast<Number>(value);
}

}  // namespace

Json to_json(std::span<const FrameRow> rows) {
    std::string out;
    for (const FrameRow& row : rows) {
        each_number(row,
                    [&out](auto number) { out += std::to_string(static_cast<std::int64_t>(number)) + " "; });
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
        std::string_view rest = text.substr(0, end);
        text.remove_prefix(end + 1);
        FrameRow row;
        each_number(row, [&rest](auto& number) { take_number(rest, number); });
        row.file = rest;
        rows.push_back(std::move(row));
    }
}

}  // namespace streamsim::seats
