#include "run/published/model_player.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/diagnosis/diagnosis.h"
#include "run/plan/media_plan.h"
#include "run/session/model_play.h"

namespace streamsim::run {
namespace {

/// As long as `max` plays a number that it has found.
constexpr Duration kDecisive = seconds(60);

}  // namespace

std::string url_of(const PublishedRow& row) {
    return fmt::format("sim:{}?nodes={}", row.model, row.nodes);
}

Result<PlayRequest> ModelPlayer::request_of(const std::shared_ptr<const ClusterModel>& model,
                                            const PublishedRow& row,
                                            std::uint32_t streams) const {
    const MediaFormat* const format = catalogue_.find(row.format);
    if (format == nullptr) return bad_input(fmt::format("{}: there is no format '{}'", row.id, row.format));
    auto target = target::parse_target(url_of(row));
    if (!target) return target.error();
    PlayRequest request;
    request.target = std::move(*target);
    request.target.nodes = std::min(row.nodes, model->nodes);
    request.target.model = model;
    request.formats = {*format};
    request.total_streams = streams;
    request.seats = std::min(row.seats, streams);
    request.find_cause = false;
    request.preroll_timeout = preroll_timeout_of(request, format->rate);
    return request;
}

Result<MaxRun> ModelPlayer::play(const std::shared_ptr<const ClusterModel>& model,
                                 const PublishedRow& row,
                                 std::uint32_t streams,
                                 Duration length) const {
    auto request = request_of(model, row, streams);
    if (!request) return request.error();
    request->duration = length;
    auto played = play_on_model(*request, program_);
    if (!played) return played.error();
    return std::move(played->run);
}

bool ModelPlayer::plays(const std::shared_ptr<const ClusterModel>& model,
                        const PublishedRow& row,
                        std::uint32_t streams,
                        Duration length) const {
    if (streams == 0) return true;
    const auto run = play(model, row, streams, length);
    if (!run || !run->pass || !run->empty_after_ns) return run && run->pass;
    // The buffers last until the end: longer play decides.
    const auto longer = play(model, row, streams, kDecisive);
    return longer && longer->pass;
}

Result<MaxFormat> ModelPlayer::most(const std::shared_ptr<const ClusterModel>& model,
                                    const PublishedRow& row,
                                    const judge::MaxSearchOptions& options) const {
    return judge::find_max(options, [&](const judge::MaxNext& next) {
        return play(model, row, static_cast<std::uint32_t>(next.streams) * step_of(row), next.length);
    });
}

Result<double> ModelPlayer::most_rate(const std::shared_ptr<const ClusterModel>& model,
                                      const PublishedRow& row) const {
    constexpr std::uint32_t kStreamsOfSeat = 8;
    const auto request = request_of(model, row, row.seats * kStreamsOfSeat);
    if (!request) return request.error();
    auto media = find_media(nullptr, *request, nullptr);
    if (!media) return media.error();
    DiagnosisControl control;
    const auto rate = model_rate(*request, one_part(*request, std::move(*media)), control);
    if (!rate) return environment_error(fmt::format("{}: the model gives no rate", row.id));
    return rate->bytes_per_s;
}

Result<double> ModelPlayer::rate_of(const std::string& format) const {
    const MediaFormat* const found = catalogue_.find(format);
    if (found == nullptr) return bad_input(fmt::format("there is no format '{}'", format));
    return found->mean_frame_bytes * found->rate.per_second();
}

}  // namespace streamsim::run
