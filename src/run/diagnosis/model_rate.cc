#include "run/diagnosis/model_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/playback/byte_meter.h"
#include "run/scenario_run.h"

namespace streamsim::run {
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

std::optional<double> rate_of(const PlayRequest& request,
                              std::vector<PlayPart> parts,
                              const ProgramFacts& program) {
    ByteMeter::Count count{kWarmUp, kMeasured};
    PlayRequest counted = request;
    counted.through = [&count](std::unique_ptr<Storage> inner) {
        return std::make_unique<ByteMeter>(std::move(inner), count);
    };
    Session session(counted, std::move(parts), {}, program, [](const std::string&) {});
    if (!session.execute()) return std::nullopt;
    return static_cast<double>(count.bytes) * 1e9 / static_cast<double>(kMeasured.ns);
}

bool plays_alone(const PlayRequest& request) {
    return request.meters.empty() && request.record.streams == 0 && !request.faults &&
           request.model_faults.empty() && !request.own_seats;
}

ProbeResult probe(const PlayRequest& request, std::string name, double rate) {
    return {std::move(name), request.inflight, request.io_size, request.io_depth, rate};
}

/// All streams of a scenario at once.
std::optional<ProbeResult> rate_of_scenario(const PlayRequest& request,
                                            std::vector<PlayPart> parts,
                                            const ProgramFacts& program) {
    for (PlayPart& part : parts) {
        if (part.request.record.streams > 0) return std::nullopt;
        part.request = without_deadlines(part.request);
        part.place->start = [](std::uint32_t, std::uint32_t) { return Duration{}; };
        part.place->end = [](std::uint32_t) { return kWarmUp + kMeasured; };
    }
    auto found = find_media(nullptr, parts, nullptr);
    if (!found) return std::nullopt;
    const auto rate = rate_of(without_deadlines(request), std::move(*found), program);
    if (!rate) return std::nullopt;
    return probe(parts.front().request, "without deadlines, all streams at once", *rate);
}

}  // namespace

std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const std::vector<PlayPart>& parts,
                                      const ProgramFacts& program,
                                      const std::function<bool()>& cancelled) {
    if (!plays_alone(request) || parts.empty()) return std::nullopt;
    if (parts.front().place) return rate_of_scenario(request, parts, program);
    if (request.formats.empty()) return std::nullopt;
    PlayRequest tried = without_deadlines(request);
    const std::uint32_t all = streams_of_format(request);
    std::optional<ProbeResult> best;
    int without_gain = 0;
    for (std::uint32_t streams = 1; streams > 0; streams = streams < all ? std::min(streams * 2, all) : 0) {
        if (cancelled()) return std::nullopt;
        tried.total_streams = streams;  // over the seats in turn
        auto media = find_media(nullptr, tried, nullptr);
        if (!media) return best;
        const auto rate = rate_of(tried, one_part(tried, std::move(*media)), program);
        if (!rate) return best;
        if (best && *rate < best->bytes_per_s * kGain) {
            if (++without_gain == kTriesWithoutGain) return best;
            continue;
        }
        without_gain = 0;
        best = probe(
            request,
            fmt::format("without deadlines, {} stream{} of each format", streams, streams == 1 ? "" : "s"),
            *rate);
    }
    return best;
}

}  // namespace streamsim::run
