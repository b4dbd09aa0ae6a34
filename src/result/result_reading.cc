#include "result/result_reading.h"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "result/result_stats.h"

namespace streamsim::result::reading {
namespace {

constexpr std::size_t kFoundBytes = 60;  // of a value that was not expected

template <typename Integer>
void read_integer(const Node& node,
                  Integer& into,
                  std::int64_t min = 0,
                  std::uint64_t max = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) {
    if (node.json.is_number_unsigned() && node.json.get<std::uint64_t>() <= max) {
        into = static_cast<Integer>(node.json.get<std::uint64_t>());
    } else if (node.json.is_number_integer() && !node.json.is_number_unsigned() &&
               node.json.get<std::int64_t>() >= min) {
        into = static_cast<Integer>(node.json.get<std::int64_t>());
    } else {
        node.expected(fmt::format("an integer from {} to {}", min, max));
    }
}

template <typename Word>
void read_word(const Node& node, Word& into, std::initializer_list<Word> words) {
    std::string names;
    for (const Word word : words) {
        if (node.json.is_string() && node.json.get_ref<const std::string&>() == to_string(word)) {
            into = word;
            return;
        }
        names += names.empty() ? "" : ", ";
        names += to_string(word);
    }
    node.expected("one of " + names);
}

}  // namespace

void Node::expected(const std::string& what) const {
    const bool large = json.is_structured() && json.size() > 2;
    std::string found = large ? json.type_name() : json.dump();
    if (found.size() > kFoundBytes) {
        std::size_t end = kFoundBytes;
        while ((static_cast<unsigned char>(found[end]) & 0xc0) == 0x80) --end;  // no half characters
        found = found.substr(0, end) + "...";
    }
    problems.add(pointer, fmt::format("expected {}, found {}", what, found));
}

void read(const Node& node, std::uint64_t& into) {
    read_integer(node, into);
}
void read(const Node& node, std::uint32_t& into) {
    read_integer(node, into);
}
void read(const Node& node, std::int64_t& into) {
    read_integer(node, into, -kFarthestNs, std::uint64_t{kFarthestNs});
}
void read(const Node& node, int& into) {
    read_integer(node, into);
}

/// null: not a finite number.
void read(const Node& node, double& into) {
    if (node.json.is_null()) {
        into = std::numeric_limits<double>::quiet_NaN();
    } else if (node.json.is_number()) {
        into = node.json.get<double>();
    } else {
        node.expected("a number or null");
    }
}

void read(const Node& node, bool& into) {
    if (!node.json.is_boolean()) return node.expected("true or false");
    into = node.json.get<bool>();
}

void read(const Node& node, std::string& into) {
    if (!node.json.is_string()) return node.expected("a text");
    into = node.json.get<std::string>();
}

void read(const Node& node, FrameRate& into) {
    std::int64_t parts[2] = {};
    bool good = node.json.is_array() && node.json.size() == 2;
    for (std::size_t i = 0; good && i < 2; ++i) {
        const Json& part = node.json[i];
        good = part.is_number_unsigned() && part.get<std::uint64_t>() > 0 &&
               part.get<std::uint64_t>() <= INT64_MAX;
        if (good) parts[i] = part.get<std::int64_t>();
    }
    if (!good) return node.expected("a frame rate [num, den] such as [24000, 1001]");
    into = {parts[0], parts[1]};
}

void read(const Node& node, Limit& into) {
    read_word(node, into,
              {Limit::none, Limit::storage, Limit::network, Limit::client_cpu, Limit::client_scheduling,
               Limit::media, Limit::unknown});
}
void read(const Node& node, Cause& into) {
    read_word(
        node, into,
        {Cause::none, Cause::slow_reads, Cause::bandwidth, Cause::slow_opens, Cause::storage_stall,
         Cause::storage_error, Cause::slow_file, Cause::damaged_file, Cause::network, Cause::network_loss,
         Cause::network_down, Cause::client_cpu, Cause::client_scheduling, Cause::too_little_in_flight,
         Cause::too_small_reads, Cause::cold_start, Cause::model_part, Cause::injected_fault, Cause::unknown});
}
void read(const Node& node, PlaceTest::Answer& into) {
    using Answer = PlaceTest::Answer;
    read_word(
        node, into,
        {Answer::nothing_missed, Answer::one_pass, Answer::everywhere, Answer::same_place, Answer::random});
}
void read(const Node& node, SeatResult::State& into) {
    using State = SeatResult::State;
    read_word(node, into, {State::complete, State::interrupted, State::partial, State::missing});
}
void read(const Node& node, FrameKind& into) {
    read_word(node, into, {FrameKind::dropped, FrameKind::late, FrameKind::failed});
}
void read(const Node& node, DropReason& into) {
    read_word(
        node, into,
        {DropReason::late, DropReason::client, DropReason::error, DropReason::short_read, DropReason::missing});
}
void read(const Node& node, PartKind& into) {
    read_word(node, into,
              {PartKind::seat_cpu, PartKind::seat_link, PartKind::switch_port, PartKind::front_end,
               PartKind::node_cpu, PartKind::ram, PartKind::ssd, PartKind::back_end, PartKind::drive,
               PartKind::file, PartKind::front_end_in, PartKind::journal, PartKind::metadata});
}

}  // namespace streamsim::result::reading
