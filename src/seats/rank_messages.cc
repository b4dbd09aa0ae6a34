#include "seats/rank_messages.h"

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace streamsim::seats {
namespace {

/// Ends a row: no file name contains this character.
constexpr char kRowEnd = '\0';

Json::other_error no_row() {
    return malformed("a row is cut, or has a word that is not known");
}

/// Calls `field` with each number of a row, in the order of the message; the name of the file follows those of
/// a frame.
template <typename Field>
void each_number(ConstOr<FrameRow> auto& row, const Field& field) {
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

/// Whether the number is known, then the number.
template <typename Field>
void optional_number(ConstOr<std::optional<std::int64_t>> auto& value, const Field& field) {
    bool known = value.has_value();
    std::int64_t number = value.value_or(0);
    field(known);
    field(number);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(value)>>) {
        value = known ? std::optional(number) : std::nullopt;
    }
}

template <typename Field>
void each_number(ConstOr<OperationRow> auto& row, const Field& field) {
    field(row.seat);
    field(row.meter);
    field(row.user);
    field(row.transfer);
    field(row.operation);
    field(row.mode);
    field(row.file);
    field(row.offset);
    field(row.bytes);
    field(row.intended_ns);
    field(row.submitted_ns);
    field(row.completed_ns);
    field(row.error);
    field(row.block_bytes);
    field(row.length_bytes);
    optional_number(row.total_ns, field);
    optional_number(row.deficit_ns, field);
}

/// A number without a word is no value of an enumeration.
template <typename Enum>
bool is_value_of(int number) {
    const auto value = static_cast<Enum>(number);
    return static_cast<int>(value) == number && to_string(value) != std::string_view("?");
}

/// Takes the next number of a row from `rest`.
template <typename Number>
void take_number(std::string_view& rest, Number& into) {
    constexpr bool kPlain = std::integral<Number> && !std::same_as<Number, bool>;
    std::conditional_t<kPlain, Number, int> value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != ' ') throw no_row();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    if constexpr (std::is_enum_v<Number>) {
        if (!is_value_of<Number>(value)) throw no_row();
    }
    into = static_cast<Number>(value);
}

/// The numbers of a row as text.
template <typename Row>
void append_numbers(const Row& row, std::string& out) {
    each_number(row, [&out](auto number) { out += std::to_string(static_cast<std::int64_t>(number)) + " "; });
}

/// Calls take(row, rest) for each row of a message, with what follows its numbers.
template <typename Row, typename Take>
void each_row(const Json& json, const Take& take) {
    std::string_view text = json.get_ref<const std::string&>();
    while (!text.empty()) {
        const std::size_t end = text.find(kRowEnd);
        if (end == std::string_view::npos) throw no_row();
        std::string_view rest = text.substr(0, end);
        text.remove_prefix(end + 1);
        Row row;
        each_number(row, [&rest](auto& number) { take_number(rest, number); });
        take(std::move(row), rest);
    }
}

}  // namespace

RankProgress& RankProgress::operator+=(const RankProgress& more) {
    streams += more.streams;
    on_time += more.on_time;
    bad += more.bad;
    stalls += more.stalls;
    bytes_read += more.bytes_read;
    bytes_written += more.bytes_written;
    required_bytes_per_s += more.required_bytes_per_s;
    clients += more.clients;
    operations += more.operations;
    operations_failed += more.operations_failed;
    meter_bytes += more.meter_bytes;
    return *this;
}

Json to_json(const RankProgress& progress) {
    return {{"streams", progress.streams},
            {"on_time", progress.on_time},
            {"bad", progress.bad},
            {"stalls", progress.stalls},
            {"bytes", progress.bytes_read},
            {"written", progress.bytes_written},
            {"required", progress.required_bytes_per_s},
            {"clients", progress.clients},
            {"operations", progress.operations},
            {"operations_failed", progress.operations_failed},
            {"meter_bytes", progress.meter_bytes}};
}

RankProgress progress_from_json(const Json& json) {
    const auto count = [&json](const char* key) { return whole_of<std::uint64_t>(json.at(key)); };
    return {whole_of<std::uint32_t>(json.at("streams")),
            count("on_time"),
            count("bad"),
            json.contains("stalls") ? count("stalls") : 0,
            count("bytes"),
            json.contains("written") ? count("written") : 0,
            json.at("required"),
            whole_of<std::uint32_t>(json.at("clients")),
            count("operations"),
            count("operations_failed"),
            count("meter_bytes")};
}

Json to_json(std::span<const FrameRow> rows) {
    std::string out;
    for (const FrameRow& row : rows) {
        append_numbers(row, out);
        out += row.file;
        out += kRowEnd;
    }
    return out;
}

void add_rows(const Json& json, std::vector<FrameRow>& rows) {
    each_row<FrameRow>(json, [&rows](FrameRow row, std::string_view rest) {
        row.file = rest;
        rows.push_back(std::move(row));
    });
}

Json to_json(std::span<const OperationRow> rows) {
    std::string out;
    for (const OperationRow& row : rows) {
        append_numbers(row, out);
        out += kRowEnd;
    }
    return out;
}

void add_rows(const Json& json, std::vector<OperationRow>& rows) {
    each_row<OperationRow>(json, [&rows](const OperationRow& row, std::string_view rest) {
        if (!rest.empty()) throw no_row();
        rows.push_back(row);
    });
}

}  // namespace streamsim::seats
