#include "run/model_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/byte_meter.h"

namespace streamsim {
namespace {

constexpr Duration kWarmUp = seconds(3);  // the caches and queues between fill up, and overshoot
constexpr Duration kMeasured = seconds(4);
constexpr Duration kPrerollLimit = seconds(120);  // virtual time: where more is asked than there is
/// A rate that is higher by less is the same, and the search ends after so many in a row that are no higher.
constexpr double kGain = 1.02;
constexpr int kTriesWithoutGain = 2;

PlayRequest without_deadlines(const PlayRequest& request) {
    PlayRequest out = request;
    out.paced = false;
    out.duration = kWarmUp + kMeasured;
    out.frames.reset();
    out.clip_duration.reset();  // clips as long as play: one that loops would come from the caches
    out.preroll_timeout = kPrerollLimit;
    out.stagger = {};
    out.spare_streams = 0;
    out.find_cause = out.keep_frames = out.keep_histograms = false;
    return out;
}

std::optional<double> rate_of(const PlayRequest& request, const ProgramFacts& program) {
    ByteMeter::Count count{kWarmUp, kMeasured};
    PlayRequest counted = request;
    counted.through = [&count](std::unique_ptr<Storage> inner) {
        return std::make_unique<ByteMeter>(std::move(inner), count);
    };
    auto media = find_media(nullptr, counted, nullptr);
    if (!media) return std::nullopt;
    Session session(counted, std::move(*media), program, [](const std::string&) {});
    if (!session.execute()) return std::nullopt;
    return static_cast<double>(count.bytes) * 1e9 / static_cast<double>(kMeasured.ns);
}

}  // namespace

std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const ProgramFacts& program,
                                      const std::function<bool()>& cancelled) {
    if (!request.meters.empty() || request.record.streams > 0 || request.faults ||
        !request.model_faults.empty() || request.formats.empty())
        return std::nullopt;
    PlayRequest tried = without_deadlines(request);
    const std::uint32_t all = streams_of_format(request);
    std::optional<ProbeResult> best;
    int without_gain = 0;
    for (std::uint32_t streams = 1; streams > 0; streams = streams < all ? std::min(streams * 2, all) : 0) {
        if (cancelled()) return std::nullopt;
        tried.total_streams = streams;  // over the seats in turn
        const auto rate = rate_of(tried, program);
        if (!rate) return best;
        if (best && *rate < best->bytes_per_s * kGain) {
            if (++without_gain == kTriesWithoutGain) return best;
            continue;
        }
        without_gain = 0;
        best = {fmt::format("without deadlines, {} stream{} of each format", streams, streams == 1 ? "" : "s"),
                request.inflight, request.io_size, request.io_depth, *rate};
    }
    return best;
}

}  // namespace streamsim
