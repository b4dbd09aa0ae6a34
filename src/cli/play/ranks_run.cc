#include "cli/play/ranks_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <future>
#include <memory>

#include "base/units.h"
#include "cli/media/media_run.h"

namespace streamsim::cli {
namespace {

std::string directory_of(const std::string& file) {
    return std::filesystem::path(file == "-" ? "" : file).parent_path().string();
}

/// The seats that are played are this many times those that one process plays; files and words are rank 0's.
void become_one_of_many(seats::Ranks& ranks, CliOptions& options) {
    run::PlayRequest& play = options.play;
    play.seats *= ranks.size();
    ranks.assign_seats(play.seats);
    play.first_seat = ranks.first_seat();
    play.own_seats = ranks.own_seats();
    play.keep_histograms = true;
    options.journal_beside = directory_of(options.files.json);
    if (ranks.first()) return;
    options.quiet = true;
    options.files = {};
    options.metrics.clear();
}

seats::RankProgress progress_of(const run::Session::Watch& watch) {
    seats::RankProgress rank;
    if (watch.streams == nullptr) return rank;
    const std::size_t count = watch.streams->size();
    for (std::size_t i = 0; i < count; ++i) {
        const StreamProgress& progress = (*watch.progress)[i];
        const StreamState state = progress.state.load(std::memory_order_relaxed);
        const bool over = state == StreamState::ended || state == StreamState::removed;
        rank.streams += over ? 0 : 1;
        rank.on_time += progress.on_time.load(std::memory_order_relaxed);
        rank.bad += progress.bad.load(std::memory_order_relaxed);
        rank.bytes += progress.bytes.load(std::memory_order_relaxed);
        if (!over) rank.required_bytes_per_s += (*watch.streams)[i].required_bytes_per_s();
    }
    return rank;
}

/// Rank 0 would have written the result; the other ranks know where its parts are.
std::string where_the_result_is(const seats::Ranks& ranks, const std::string& journals) {
    if (journals.empty()) return "";
    return fmt::format(
        "; `streamsim report --merge {}/seat-*-{}.json` makes one result of what every seat has kept", journals,
        ranks.run_id());
}

}  // namespace

std::string journal_directory(const CliOptions& options) {
    if (!options.journal.empty()) return options.journal;
    return options.journal_beside.empty() ? "." : options.journal_beside;
}

RunPart part_of_ranks(seats::Ranks& ranks) {
    RunPart part;
    part.run_id = ranks.run_id();
    part.rank = ranks.rank();
    part.become = [&ranks](RunResult& result, const std::string& journal) {
        if (result.seats.empty()) ranks.become_own_part(result, journal);
    };
    return part;
}

std::string AllRanks::text(std::int64_t now_ns) {
    seats::RankProgress all = progress_of(session_.watch());
    std::size_t seats = 1;
    for (const auto& rank : ranks_->progress_of_others()) {
        if (!rank) continue;
        ++seats;
        all.streams += rank->streams;
        all.on_time += rank->on_time;
        all.bad += rank->bad;
        all.bytes += rank->bytes;
        all.required_bytes_per_s += rank->required_bytes_per_s;
    }
    // The others tell once a second: over less than some seconds there is no rate.
    constexpr std::int64_t kRateOverNs = 3'000'000'000;
    if (since_ns_ == 0 || now_ns - since_ns_ >= kRateOverNs) {
        if (since_ns_ > 0 && all.bytes >= since_bytes_)
            bytes_per_s_ =
                static_cast<double>(all.bytes - since_bytes_) * 1e9 / static_cast<double>(now_ns - since_ns_);
        since_ns_ = now_ns;
        since_bytes_ = all.bytes;
    }
    return fmt::format("{} of {} ranks: {} stream{}, {} of {}, {} not in time", seats, ranks_->size(),
                       all.streams, all.streams == 1 ? "" : "s", show_rate(bytes_per_s_),
                       show_rate(all.required_bytes_per_s), show_count(all.bad));
}

void wait_for_ranks(run::Control& control, seats::Ranks& ranks, const std::function<void()>& wait) {
    const auto ended = std::make_shared<std::promise<void>>();
    run::Control::Work work;
    work.run = [&wait, ended] {
        wait();
        ended->set_value();
    };
    work.on_interrupt = [&ranks] { ranks.stop(); };
    work.timeout.reset();
    // Also where a second signal would leave it: it ends at once, for nobody waits for ranks any more.
    if (!control.run(std::move(work))) ended->get_future().wait();
}

Result<void> agree_on_command(CliContext& context, run::Control& control, Result<ParsedCommandLine>& parsed) {
    seats::Ranks& ranks = *context.ranks;
    Result<void> own;
    if (!parsed) {
        own = parsed.error();
    } else if (parsed->options.play.target.kind == target::Target::Kind::model) {
        own = bad_input(kModelIsForOne);
    }
    Result<void> agreed;
    wait_for_ranks(control, ranks, [&] {
        const run::ProgramFacts& program = context.program;
        std::vector<std::string> alike = program.command;
        alike.front() = fmt::format("streamsim {} ({})", program.version, program.revision);
        agreed = ranks.gather(alike);
        if (agreed) agreed = ranks.agree(own);
    });
    if (agreed) become_one_of_many(ranks, parsed->options);
    return agreed;
}

Result<void> together(CliContext& context, run::Control& control, const Result<void>& own) {
    if (context.ranks == nullptr) return own;
    Result<void> agreed;
    wait_for_ranks(control, *context.ranks, [&] { agreed = context.ranks->agree(own); });
    return agreed;
}

Result<void> MediaRun::together(const Result<void>& own) {
    return cli::together(context_, control_, own);
}

Result<void> MediaRun::choose_formats_together() {
    Result<void> done;
    if (leads()) done = choose_formats();
    done = together(done);
    if (!done || context_.ranks == nullptr) return done;
    bool chosen = !options_.play.formats.empty();
    wait_for_ranks(control_, *context_.ranks, [&] {
        const auto shared = context_.ranks->share(chosen);
        if (!shared) {
            done = shared.error();
        } else {
            chosen = shared->get<bool>();
        }
    });
    if (done && chosen && options_.play.formats.empty())
        options_.play.formats.push_back(options_.default_format);
    return done;
}

/// Plays what this rank has of it; the result is that of all where this is rank 0.
Result<RunResult> MediaRun::play_with_others(run::Session& session, const run::PlayRequest& request) {
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
    how.nothing = [this, &request] { return run::Session::not_played(request, context_.program); };
    how.meanwhile = [this](const RunResult& known) { write_files(known); };
    return ranks.collect(std::move(own), how);
}

/// Ten times a second while it plays.
void MediaRun::watch_ranks(run::Session& session) {
    seats::Ranks& ranks = *context_.ranks;
    if (ranks.stopped() || ranks.play_is_off()) session.interrupt();
    for (std::string lost : ranks.newly_lost()) {
        if (!ranks.first()) {
            context_.log.set_level(spdlog::level::warn);  // nobody speaks for this seat any more
            lost += where_the_result_is(ranks, journal_.kept() ? journal_directory(options_) : "");
        }
        if (live_ != nullptr) {
            live_->say(lost);
        } else {
            context_.log.warn("{}", lost);
        }
    }
}

}  // namespace streamsim::cli
