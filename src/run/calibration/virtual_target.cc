#include "run/calibration/virtual_target.h"

#include <algorithm>
#include <utility>

#include "run/plan/media_plan.h"
#include "run/plan/meters.h"
#include "target/target.h"

namespace streamsim::run {

PlayRequest request_on(const std::shared_ptr<const ClusterModel>& model) {
    PlayRequest request;
    request.target.kind = target::Target::Kind::model;
    request.target.url = "sim:" + model->name;
    request.target.model = model;
    request.find_cause = false;
    return request;
}

Result<ProbeRow> do_probe(const PlayRequest& base,
                          const Probe& probe,
                          const Measurement& measured,
                          const ProgramFacts& program) {
    PlayRequest request = load_request(workload_of(probe, measured), base);
    request.keep_frames = true;
    request.find_cause = false;
    request.seed = measured.seed;
    auto media = find_media(nullptr, request, nullptr);
    if (!media) return media.error();
    Session session(request, std::move(*media), program, [](const std::string&) {});
    const auto result = session.execute();
    if (!result) return result.error();
    return row_of(probe, *result);
}

Result<MaxFormat> most_streams(const PlayRequest& base,
                               const MediaFormat& format,
                               std::uint32_t seats,
                               const judge::MaxSearchOptions& options,
                               const ProgramFacts& program) {
    return judge::find_max(options, [&](const judge::MaxNext& next) -> Result<MaxRun> {
        PlayRequest request = base;
        request.formats = {format};
        request.meters.clear();
        request.total_streams = static_cast<std::uint32_t>(next.streams);
        request.seats = std::min(seats, *request.total_streams);
        request.duration = next.length;
        request.find_cause = false;
        request.preroll_timeout =
            std::max(request.preroll_timeout, format.rate.due(std::uint64_t{2} * request.readahead));
        auto media = find_media(nullptr, request, nullptr);
        if (!media) return media.error();
        Session session(request, std::move(*media), program, [](const std::string&) {});
        const auto result = session.execute();
        if (result) return judge::max_run(*result, next.length, 0);
        if (!session.preroll_took_too_long()) return result.error();
        MaxRun run;
        run.duration_ns = next.length.ns;
        run.limit = Limit::storage;
        run.reason = result.error().problems.front();
        return run;
    });
}

Result<Measurement> measure_virtual(const PlayRequest& base, std::uint32_t seats, const ProgramFacts& program) {
    constexpr std::uint64_t kSetBytes = std::uint64_t{1} << 40;
    Measurement measured;
    measured.target = base.target.url;
    measured.seats = seats;
    measured.set_bytes = kSetBytes;
    measured.seed = base.seed;
    // Probes of open load are known when the ladder was measured.
    for (bool more = true; more;) {
        more = false;
        for (const Probe& probe : probes_of(measured, {})) {
            if (find_row(measured, probe.id) != nullptr) continue;
            auto row = do_probe(base, probe, measured, program);
            if (!row) return row.error();
            measured.rows.push_back(std::move(*row));
            more = true;
            break;
        }
    }
    measured.started_at = measured.rows.front().measured_at;
    measured.complete = true;
    return measured;
}

}  // namespace streamsim::run
