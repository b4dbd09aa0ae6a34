// The rate that a model delivers at most. When more is required than the model has, frames are dropped, and the
// delivered rate says nothing about the cluster. Therefore its streams play again in virtual time without
// deadlines: 1, 2, 4, ... of them, until the rate rises no more. That rate does not depend on how many more
// streams were required.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/backends/byte_meter.h"
#include "run/diagnosis/diagnosis.h"
#include "run/plan/media_plan.h"
#include "run/playback/playback.h"

namespace streamsim::run {
namespace {

constexpr Duration kWarmUp = seconds(3);  // the caches and queues on the path fill up, and overshoot
constexpr Duration kMeasured = seconds(4);
constexpr Duration kPrerollTimeout =
    seconds(120);  // in virtual time: an overloaded model fills read-aheads slowly
/// A rate that is higher by less is the same, and the search ends after so many in a row that are no higher.
constexpr double kGain = 1.02;
constexpr int kTriesWithoutGain = 2;

PlayRequest without_deadlines(const PlayRequest& request) {
    PlayRequest out = request;
    out.paced = false;
    out.duration = kWarmUp + kMeasured;
    out.frames.reset();
    out.clip_duration.reset();  // clips as long as play: one that loops would come from the caches
    out.preroll_timeout = kPrerollTimeout;
    out.stagger = {};
    out.spare_streams = 0;
    out.find_cause = out.keep_frames = out.keep_histograms = false;
    return out;
}

std::optional<double> rate_of(const PlayRequest& request, std::vector<PlayPart> parts) {
    ByteMeter::Count count{kWarmUp, kMeasured};
    PlayRequest counted = request;
    counted.through = count.wrapper();
    NoticeLog log([](const std::string&) {});
    PlaybackPlan plan(counted, std::move(parts), {}, log);
    if (!plan.make()) return std::nullopt;
    Playback playback(plan);
    playback.prepare();
    if (!playback.run()) return std::nullopt;
    return count.bytes_per_s();
}

bool plays_alone(const PlayRequest& request) {
    return request.meters.empty() && request.record.streams == 0 && !request.faults &&
           request.model_faults.empty() && !request.own_seats;
}

ProbeResult probe(const PlayRequest& request, std::string name, double rate) {
    return {std::move(name), request.inflight, request.io_size, request.io_depth, rate};
}

/// The rate of all streams of a scenario at once.
std::optional<ProbeResult> rate_of_scenario(const PlayRequest& request, std::vector<PlayPart> parts) {
    for (PlayPart& part : parts) {
        if (part.request.record.streams > 0) return std::nullopt;
        part.request = without_deadlines(part.request);
        part.schedule->start = [](std::uint32_t, std::uint32_t) { return Duration{}; };
        part.schedule->end = [](std::uint32_t) { return kWarmUp + kMeasured; };
    }
    auto found = find_media(nullptr, parts, nullptr);
    if (!found) return std::nullopt;
    const auto rate = rate_of(without_deadlines(request), std::move(*found));
    if (!rate) return std::nullopt;
    return probe(parts.front().request, "without deadlines, all streams at once", *rate);
}

}  // namespace

std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const std::vector<PlayPart>& parts,
                                      const DiagnosisControl& control) {
    if (!plays_alone(request) || parts.empty()) return std::nullopt;
    if (parts.front().schedule) return rate_of_scenario(request, parts);
    if (request.formats.empty()) return std::nullopt;
    PlayRequest tried = without_deadlines(request);
    const std::uint32_t all = streams_of_format(request);
    std::optional<ProbeResult> best;
    int without_gain = 0;
    for (std::uint32_t streams = 1; streams > 0; streams = streams < all ? std::min(streams * 2, all) : 0) {
        if (control.interrupted()) return std::nullopt;
        tried.total_streams = streams;  // over the seats in turn
        auto media = find_media(nullptr, tried, nullptr);
        if (!media) return best;
        const auto rate = rate_of(tried, one_part(tried, std::move(*media)));
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
