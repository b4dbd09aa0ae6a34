#include "cli/media/load_run.h"

#include <fmt/format.h>

namespace streamsim::cli {

void LoadRun::take_own_clients(run::PlayRequest& request, std::size_t step) {
    if (context_.ranks == nullptr) return;
    seats::Ranks& ranks = *context_.ranks;
    ranks.assign_seats(request.seats, seats::SeatOrder::round_robin);
    ranks.name_play(fmt::format("step-{}", step));
    request.first_seat = ranks.first_seat();
    request.seat_step = ranks.seat_step();
    request.own_seats = ranks.own_seats();
    request.only_leads = ranks.only_leads();
}

Result<void> LoadRun::prepare_files(run::PlayRequest& request) {
    if (store_ != nullptr && context_.ranks == nullptr) {
        if (auto written = media_.write_load_sets(request); !written) return written;
    } else if (store_ != nullptr) {
        auto done = together(makes_media() ? media_.record_load_sets(request) : Result<void>());
        if (done) done = together(media_.write_own_load_sets(request));
        if (!done) return done;
        if (makes_media()) media_.share_load_sets(request);
    }
    return {};
}

Result<RunResult> LoadRun::play_all(const run::PlayRequest& request, const std::string& about) {
    if (auto opened = together(play_.open_journal(request)); !opened) return opened.error();
    auto session = meters_session(request);
    play_.follow_in_journal(*session);
    auto result = play_aside(session, request, fmt::format("{}; {}", request.target.url, about));
    if (auto so_far = known_for_now(); !result && left_behind() && so_far) {
        steps_.record(*so_far);
        result = std::move(*so_far);
    }
    if (result && context_.ranks == nullptr) play_.finish_journal(*result);
    play_.stop_journal();
    if (makes_media()) media_.remove_created(request);  // no rank plays any more
    if (context_.ranks == nullptr || (result && result->interrupted)) return result;
    auto own = result ? Result<void>() : Result<void>(result.error());
    if (own && left_behind())
        own = environment_error("its storage has not completed all operations: the workload ends here");
    const auto all = together(own);
    if (!all && result) ended_by_ = all.error();
    return all || result ? std::move(result) : Result<RunResult>(all.error());
}

}  // namespace streamsim::cli
