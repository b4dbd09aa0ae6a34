#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <map>

#include "report/csv/csv_report.h"

namespace streamsim::report {
namespace {

/// Members of StreamResult as its document names them; those of a summary as SUMMARY_MEMBER.
constexpr std::string_view kHeadings =
    "seat,stream,format,clip,rate,paced,pattern,frames_scheduled,frames_on_time,frames_late,frames_dropped,"
    "frames_failed,frames_cancelled,startup_drops,stalls,stall_ns,bytes_read,passes,longest_drop_run,"
    "required_bytes_per_s,play_start_ns,start_delay_ns,margin_ns_min,margin_ns_p0_1,margin_ns_p1,margin_ns_p10,"
    "margin_ns_p50,margin_ns_max,service_ns_p50,service_ns_p90,service_ns_p99,service_ns_p99_9,service_ns_max,"
    "response_ns_p50,response_ns_p90,response_ns_p99,response_ns_p99_9,response_ns_max,open_ns_p50,open_ns_p90,"
    "open_ns_p99,open_ns_p99_9,open_ns_max,buffer_frames_min,buffer_frames_p1,buffer_frames_p50,records,"
    "durable,"
    "bytes_written,sync_ns_p50,sync_ns_p90,sync_ns_p99,sync_ns_p99_9,sync_ns_max";

/// Takes the fields of a stream, each as a cell.
class Cells {
public:
    void operator()(const std::string& key, const std::string& text, Presence = kAlways) {
        append_csv_text(text, cells_[key]);
    }
    void operator()(const std::string& key, bool flag, Presence = kAlways) {
        cells_[key] = flag ? "true" : "false";
    }
    void operator()(const std::string& key, std::integral auto number, Presence = kAlways) {
        cells_[key] = std::to_string(number);
    }
    void operator()(const std::string& key, const FrameRate& rate, Presence = kAlways) {
        cells_[key] = rate.to_string();
    }
    void operator()(const std::string& key, Whole<const double> number, Presence = kAlways) {
        if (std::isfinite(number.value)) cells_[key] = std::to_string(std::llround(number.value));
    }
    template <class Summary>
    void operator()(const std::string& key, const std::optional<Summary>& summary, Presence = kAlways) {
        auto part = [&](const char* name, auto number) { (*this)(key + "_" + name, number); };
        if (summary) fields(*summary, part);
    }
    void operator()(const char* /*key*/, const StreamSeries& /*series*/, Presence = kAlways) {}
    void operator()(const char* /*key*/, const std::optional<StreamHistograms>&, Presence = kAlways) {}

    /// The cells under kHeadings; a cell is empty where the document has null.
    std::string row() {
        std::string out;
        for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
            end = kHeadings.find(',', at);
            out += (at > 0 ? "," : "") + cells_[std::string(kHeadings.substr(at, end - at))];
        }
        return out;
    }

private:
    std::map<std::string, std::string> cells_;
};

}  // namespace

std::string streams_csv(const RunResult& result) {
    std::string out = fmt::format("{}{}", kHeadings, kCsvLineEnd);
    for (const StreamResult& stream : result.streams) {
        Cells cells;
        fields(stream, cells);
        out += cells.row();
        out += kCsvLineEnd;
    }
    return out;
}

}  // namespace streamsim::report
