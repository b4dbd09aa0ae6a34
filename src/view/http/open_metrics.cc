#include "view/http/open_metrics.h"

#include <fmt/format.h>

#include <utility>

#include "base/utf8.h"

namespace streamsim::view {
namespace {

/// Escapes backslash, quote and line break; bytes that are not UTF-8 become "?".
std::string label_value(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Utf8Character character = first_character(text);
        if (character.code == '\n') {
            out += "\\n";
        } else {
            if (character.code == '\\' || character.code == '"') out += '\\';
            out += character.bytes == 0 ? "?" : text.substr(0, character.bytes);
        }
        text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
    }
    return out;
}

double in_seconds(std::int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

/// Writes family by family: the format requires that all samples of one are together.
class Exposition {
public:
    explicit Exposition(const MetricsState& state) : state_(state) {
        for (const StreamMetrics& stream : state.streams)
            labels_.push_back(fmt::format("{{seat=\"{}\",stream=\"{}\",format=\"{}\"}}", stream.seat,
                                          stream.stream, label_value(stream.format)));
    }

    void info(std::string_view name, std::string_view help) {
        family(name, "info", "", help);
        add("{}_info{{version=\"{}\",target=\"{}\"}} 1\n", name, label_value(state_.version),
            label_value(state_.target));
    }
    template <typename Value>
    void whole(std::string_view name, std::string_view unit, std::string_view help, Value value) {
        family(name, "gauge", unit, help);
        add("{} {}\n", name, value);
    }
    template <typename Value>
    void counter(std::string_view name,
                 std::string_view unit,
                 std::string_view help,
                 Value StreamMetrics::*value) {
        family(name, "counter", unit, help);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            add("{}_total{} {}\n", name, labels_[i], state_.streams[i].*value);
    }
    /// `value(stream)` is an optional number; a stream without one gets no sample.
    template <typename Value>
    void gauge(std::string_view name, std::string_view unit, std::string_view help, Value value) {
        family(name, "gauge", unit, help);
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            if (const auto number = value(state_.streams[i])) add("{}{} {}\n", name, labels_[i], *number);
        }
    }
    /// Writes one family with a sample of each computer.
    template <typename Value>
    void computers(std::string_view name,
                   std::string_view type,
                   std::string_view unit,
                   std::string_view help,
                   Value ComputerMetrics::*value) {
        family(name, type, unit, help);
        for (const ComputerMetrics& computer : state_.computers)
            add("{}{}{{computer=\"{}\"}} {}\n", name, type == "counter" ? "_total" : "",
                label_value(computer.name), computer.*value);
    }
    std::string finish() && { return std::move(text_) + "# EOF\n"; }

private:
    void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
        add("# TYPE {} {}\n", name, type);
        if (!unit.empty()) add("# UNIT {} {}\n", name, unit);
        add("# HELP {} {}\n", name, help);
    }
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        text_ += fmt::format(format, std::forward<Args>(args)...);
    }

    const MetricsState& state_;
    std::vector<std::string> labels_;
    std::string text_;
};

}  // namespace

std::string open_metrics(const MetricsState& state) {
    Exposition out(state);
    out.info("streamsim", "The target, and the version of streamsim.");
    out.whole("streamsim_played_seconds", "seconds", "Time played; 0 while the read-ahead is filled.",
              in_seconds(state.played_ns));
    if (state.faults_injected) {
        out.whole("streamsim_faults_injected", "",
                  "1: FAULTS INJECTED by streamsim; the other numbers say nothing about the storage.", 1);
    }
    out.counter("streamsim_frames_on_time", "", "Frames that were complete at their deadline.",
                &StreamMetrics::on_time);
    out.counter("streamsim_frames_missed", "", "Frames that were dropped, late or failed.",
                &StreamMetrics::missed);
    out.counter("streamsim_stalls", "", "Stalls of play.", &StreamMetrics::stalls);
    out.counter("streamsim_read_bytes", "bytes", "Bytes of complete frames that were read.",
                &StreamMetrics::bytes_read);
    out.counter("streamsim_written_bytes", "bytes", "Bytes of complete frames that were recorded.",
                &StreamMetrics::bytes_written);
    out.gauge("streamsim_buffered_frames", "frames", "Complete frames ahead of the one on display.",
              [](const StreamMetrics& stream) { return std::optional(stream.buffered); });
    out.gauge("streamsim_margin_min_seconds", "seconds", "Least margin so far; below 0: late.",
              [](const StreamMetrics& stream) {
                  return stream.margin_min_ns ? std::optional(in_seconds(*stream.margin_min_ns)) : std::nullopt;
              });
    out.gauge("streamsim_required_bytes_per_second", "",
              "The rate that the stream requires, of writing where it records; 0: none.",
              [](const StreamMetrics& stream) { return std::optional(stream.required_bytes_per_s); });
    if (state.computers.empty()) return std::move(out).finish();
    out.computers("streamsim_computer_frames_on_time", "counter", "", "Frames on time of a computer's streams.",
                  &ComputerMetrics::on_time);
    out.computers("streamsim_computer_frames_missed", "counter", "", "Frames that a computer's streams missed.",
                  &ComputerMetrics::missed);
    out.computers("streamsim_computer_stalls", "counter", "", "Stalls of a computer's streams.",
                  &ComputerMetrics::stalls);
    out.computers("streamsim_computer_read_bytes", "counter", "bytes",
                  "Bytes of complete frames that a computer's streams have read.",
                  &ComputerMetrics::bytes_read);
    out.computers("streamsim_computer_written_bytes", "counter", "bytes",
                  "Bytes of complete frames that a computer's streams have recorded.",
                  &ComputerMetrics::bytes_written);
    out.computers("streamsim_computer_required_bytes_per_second", "gauge", "",
                  "The rate that a computer's streams require, reading and writing together.",
                  &ComputerMetrics::required_bytes_per_s);
    return std::move(out).finish();
}

}  // namespace streamsim::view
