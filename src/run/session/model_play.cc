#include "run/session/model_play.h"

#include <algorithm>
#include <utility>

#include "judge/prediction_rules.h"
#include "judge/search/max_search.h"
#include "run/plan/media_plan.h"

namespace streamsim::run {
namespace {

Result<ModelPlay> play(Session& session, Duration length, double headroom_percent = 0) {
    const auto result = session.execute();
    ModelPlay out;
    if (result) {
        out.run = judge::max_run(*result, length, headroom_percent);
        out.full = judge::full_part(*result);
        return out;
    }
    if (!session.preroll_took_too_long()) return result.error();
    out.run.duration_ns = length.ns;
    out.run.limit = Limit::storage;
    out.run.reason = result.error().problems.front();
    out.full = "server";
    return out;
}

}  // namespace

Result<ModelPlay> play_on_model(const PlayRequest& request,
                                const ProgramFacts& program,
                                double headroom_percent) {
    auto media = find_media(nullptr, request, nullptr);
    if (!media) return media.error();
    Session session(request, std::move(*media), program, [](const std::string&) {});
    return play(session, request.duration.value_or(kDefaultDuration), headroom_percent);
}

Result<ModelPlay> play_on_model(const PartsToPlay& what,
                                const std::shared_ptr<const ClusterModel>& model,
                                std::uint64_t seed,
                                const ProgramFacts& program) {
    PlayRequest request = what.request;
    std::vector<PlayPart> parts = what.parts;
    const auto change = [&](PlayRequest& each) {
        each.target.model = model;
        each.seed = seed;
        each.find_cause = each.find_capacity = each.keep_frames = each.keep_histograms = false;
        each.spare_streams = 0;
    };
    change(request);
    for (PlayPart& part : parts) change(part.request);
    Session session(request, std::move(parts), what.faults, program, [](const std::string&) {});
    return play(session, request.duration.value_or(kDefaultDuration));
}

Duration preroll_timeout_of(const PlayRequest& request, FrameRate rate) {
    return std::max(request.preroll_timeout, rate.due(std::uint64_t{2} * request.readahead));
}

}  // namespace streamsim::run
