#include "cli/play/watched_play.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "cli/play/metrics_feed.h"
#include "cli/play/ranks_run.h"

namespace streamsim::cli {
namespace {

/// Rank 0 would have written the result; the other ranks know where its parts are.
std::string where_the_result_is(const seats::Ranks& ranks, const std::string& journals) {
    if (journals.empty()) return "";
    return fmt::format(
        "; `streamsim report --merge {}/seat-*-{}.json` makes one result of what every seat has kept", journals,
        ranks.run_id());
}

}  // namespace

Result<void> WatchedPlay::open_metrics() {
    if (options_.metrics.empty()) return {};
    auto metrics = open_metrics_feed(options_.metrics, context_.program.version);
    if (!metrics) return metrics.error();
    metrics_ = std::move(*metrics);
    if (!options_.quiet) context_.log.info("metrics: {}", metrics_->url());
    return {};
}

Result<void> WatchedPlay::open_journal(const run::PlayRequest& request) {
    seats::Ranks* const ranks = context_.ranks;
    if (options_.journal.empty() && ranks == nullptr) return {};
    const auto notice = [this](const std::string& text) { say_always(text); };
    RunPart part = ranks != nullptr ? part_of_ranks(*ranks) : part_alone(request);
    auto opened = journal_.open(journal_directory(options_), std::move(part),
                                run::not_played(request, context_.program), notice);
    if (opened || !options_.journal.empty()) return opened;
    notice("no journal is kept: " + opened.error().problems.front());
    return {};
}

std::optional<Result<RunResult>> WatchedPlay::play(run::Session& session,
                                                   const run::PlayRequest& request,
                                                   const std::string& about,
                                                   bool streams_may_change,
                                                   const std::function<void(const RunResult&)>& keep) {
    std::optional<LivePlay> live;
    if (!options_.quiet) live_ = &live.emplace(context_, control_, session, about, streams_may_change);
    const auto result = std::make_shared<std::optional<Result<RunResult>>>();  // as long as the thread lives
    run::Control::Work work;
    seats::Ranks* const ranks = context_.ranks;
    AllRanks all_ranks(ranks, session);
    if (live && ranks != nullptr) live->say_also([&] { return all_ranks.text(control_.now_ns()); });
    work.run = [this, result, &session, &request, keep, ranks] {
        result->emplace(ranks != nullptr ? play_own_part(session, request, keep) : session.execute());
    };
    work.on_interrupt = [&] {
        session.interrupt();
        if (ranks != nullptr) ranks->stop();
    };
    work.on_tick = [&] {
        if (ranks != nullptr) watch_ranks(session);
        if (live) live->tick();
        if (metrics_)
            feed_metrics(*metrics_, session.watch(), about, context_.program.version, control_.now_ns());
    };
    work.about_to_end = [&session] { return session.storage_is_over(); };
    if (ranks != nullptr) work.timeout.reset();  // the others are waited for, as ranks.stop() does
    const bool ended = control_.run(std::move(work));
    if (live) live->end();
    live_ = nullptr;
    if (!ended) return std::nullopt;
    return std::move(*result);
}

/// Plays the seats of this rank. The result is that of all ranks where this is rank 0.
Result<RunResult> WatchedPlay::play_own_part(run::Session& session,
                                             const run::PlayRequest& request,
                                             const std::function<void(const RunResult&)>& keep) {
    seats::Ranks& ranks = *context_.ranks;
    session.wait_for(ranks);
    ranks.report_progress(
        [&session]() -> std::optional<seats::RankProgress> { return progress_of(session.watch()); });
    auto own = session.execute();
    ranks.report_progress({});
    seats::Ranks::Collecting how;
    if (journal_.kept()) how.journals = journal_directory(options_);
    how.keep = [this](RunResult& part) { journal_.finish(part); };
    how.virtual_time = request.target.is_virtual_time();
    how.preroll_took_too_long = session.preroll_took_too_long();
    how.nothing = [this, &request] { return run::not_played(request, context_.program); };
    how.meanwhile = keep;
    return ranks.collect(std::move(own), how);
}

/// Ten times a second while it plays.
void WatchedPlay::watch_ranks(run::Session& session) {
    seats::Ranks& ranks = *context_.ranks;
    if (ranks.stopped() || ranks.play_is_off()) session.interrupt();
    for (std::string lost : ranks.newly_lost()) {
        if (!ranks.first()) {
            context_.log.set_level(spdlog::level::warn);  // nobody speaks for this seat any more
            lost += where_the_result_is(ranks, journal_.kept() ? journal_directory(options_) : "");
        }
        say_always(lost);
    }
}

void WatchedPlay::say_notice(const std::string& notice) {
    if (live_ != nullptr || !options_.quiet) say_always(notice);
}

void WatchedPlay::say_always(const std::string& notice) {
    if (live_ != nullptr) return live_->say(notice);
    context_.log.warn("{}", notice);
}

}  // namespace streamsim::cli
