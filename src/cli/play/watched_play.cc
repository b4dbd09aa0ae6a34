#include "cli/play/watched_play.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <future>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/play/all_ranks.h"
#include "cli/process/system.h"
#include "report/html/live_page.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "target/allowed_places.h"
#include "view/http/open_metrics.h"
#include "view/plain_table.h"

namespace streamsim::cli {
namespace {

/// After an interruption rank 0 waits 6.6 s for a seat's part, which is sent when its journal is finished.
constexpr Duration kInterruptedDiskTimeout = seconds(2);
/// A run that was left has run::kInterruptTimeout from then on, also for its snapshot.
constexpr Duration kStoppedDiskTimeout = milliseconds(500);

/// Rank 0 would have written the result; the other ranks know where its parts are.
std::string where_the_result_is(const seats::Ranks& ranks, const std::string& journals) {
    if (journals.empty()) return "";
    return fmt::format(
        "; `streamsim report --merge {}/seat-*-{}.json` makes one result of what every seat has kept", journals,
        ranks.run_id());
}

/// The computers of a run as lines of a terminal.
std::vector<view::ViewLine> lines_of(std::vector<AllRanks::Row> all) {
    std::vector<view::PlainRow> rows;
    for (AllRanks::Row& row : all) {
        const view::Paint paint = row.missed ? view::Paint::bad
                                  : row.gone ? view::Paint::faint
                                             : view::Paint::good;
        rows.push_back({std::move(row.cells), paint});
    }
    return view::table_lines(AllRanks::headings(), rows, INT_MAX, SIZE_MAX);
}

/// The same as a page.
report::LivePage page_of(AllRanks& ranks, const std::string& about, std::int64_t now_ns) {
    using State = report::SeatsTable::Row::State;
    report::SeatsTable table{"PLAYING", about, AllRanks::headings(), {}, {}};
    for (AllRanks::Row& row : ranks.rows(now_ns)) {
        const State state = row.missed ? State::wrong : row.gone ? State::waits : State::ready;
        table.rows.push_back({std::move(row.cells), state});
    }
    return report::seats_page(table, fmt::format("Live: {}. The page follows the run.", ranks.text(now_ns)));
}

view::MetricsState state_of(const run::Session::Watch& watch, std::int64_t now_ns) {
    view::MetricsState state;
    if (watch.streams == nullptr) return state;
    state.faults_injected = watch.faults_injected;
    std::int64_t played_ns = 0;  // in the streams' own time
    for (std::size_t i = 0; i < watch.streams->size(); ++i) {
        const run::StreamPlan& plan = (*watch.streams)[i];
        view::StreamView now;
        now.read((*watch.progress)[i]);
        if (plan.options.paced)
            played_ns = std::max(played_ns, (plan.start_offset + plan.rate().due(now.due)).ns);
        const bool records = plan.record != nullptr;
        state.streams.push_back({plan.options.seat, plan.options.stream, plan.format, now.on_time, now.bad,
                                 now.stalls, records ? 0 : now.bytes, records ? now.bytes : 0, now.buffered,
                                 now.margin_min_ns, plan.required_bytes_per_s()});
    }
    if (watch.started_ns > 0) state.played_ns = watch.virtual_time ? played_ns : now_ns - watch.started_ns;
    return state;
}

/// Each computer has told its state within the last second or so; this one knows its own.
std::vector<view::ComputerMetrics> computers_of(const seats::Ranks& ranks, const run::Session::Watch& watch) {
    auto all = ranks.progress_of_others();
    if (!ranks.only_leads()) all[ranks.rank()] = progress_of(watch);
    std::vector<view::ComputerMetrics> computers;
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
        if (!all[rank]) continue;
        computers.push_back({ranks.name_of(rank), all[rank]->on_time, all[rank]->bad, all[rank]->stalls,
                             all[rank]->bytes_read, all[rank]->bytes_written, all[rank]->required_bytes_per_s});
    }
    return computers;
}

}  // namespace

Result<void> WatchedPlay::open_servers() {
    auto opened = open_metrics();
    return opened ? open_web() : opened;
}

Result<void> WatchedPlay::open_metrics() {
    if (options_.metrics.empty()) return {};
    const auto address = view::parse_http_address(options_.metrics);
    if (!address) return address.error();
    auto server = view::MetricsServer::listen(*address);
    if (!server) return server.error();
    metrics_ = std::move(*server);
    metrics_->publish(view::open_metrics({context_.program.version, "", 0, {}, false}));
    if (!options_.quiet) context_.log.info("metrics: " + metrics_->url());
    return {};
}

Result<void> WatchedPlay::open_web() {
    if (options_.web.empty()) return {};
    auto server = context_.page ? Result(context_.page) : listen_for_page(context_, options_.web);
    if (!server) return server.error();
    page_.emplace(std::move(*server), context_.control);
    return {};
}

void WatchedPlay::finish_page(const RunResult& result) {
    if (page_) page_->finish(result);
}

void WatchedPlay::keep_page() {
    if (!page_ || options_.quiet || context_.ranks != nullptr || !LivePlay::keys_possible()) return;
    context_.log.info(fmt::format("the finished report stays at {} until Ctrl-C", page_->url()));
    std::promise<void> interrupted;
    run::Control::Work wait;
    wait.run = [&interrupted] { interrupted.get_future().wait(); };
    wait.on_interrupt = [&interrupted] { interrupted.set_value(); };
    (void)context_.control.run(std::move(wait));
}

/// Publishes the state of the streams, where a client waits for it.
void WatchedPlay::feed_metrics(const run::Session::Watch& watch, const std::string& about) {
    if (metrics_ == nullptr || !metrics_->wanted()) return;
    view::MetricsState state = state_of(watch, context_.control.now_ns());
    state.version = context_.program.version;
    state.target = about;
    if (context_.ranks != nullptr) state.computers = computers_of(*context_.ranks, watch);
    metrics_->publish(view::open_metrics(state));
}

/// The one of --journal; else that of the result.
std::string WatchedPlay::journal_directory() const {
    if (!options_.journal.empty()) return options_.journal;
    return options_.journal_beside.empty() ? "." : options_.journal_beside;
}

Result<void> WatchedPlay::try_journal() const {
    const bool joined = context_.ranks != nullptr && context_.ranks->is_meeting();
    if (options_.journal.empty() || joined) return {};
    const std::filesystem::path directory = system_path(options_.journal);
    const std::string name = join_path(options_.journal, fmt::format("{:016x}.partial", entropy64()));
    std::vector<std::filesystem::path> made = {system_path(name)};  // the deepest first
    std::error_code error;
    const bool alone = context_.ranks == nullptr;  // others may try the same directory now
    for (auto each = directory; alone && !each.empty() && !std::filesystem::exists(each, error);
         each = each.parent_path())
        made.push_back(each);
    Result<void> done;
    std::filesystem::create_directories(directory, error);
    if (error) {
        done = environment_error(fmt::format("{}: cannot be made: {}", options_.journal, error.message()));
    } else if (std::FILE* const file = open_output(name, true)) {
        std::fclose(file);
    } else {
        done = environment_error(
            fmt::format("{}: the journal cannot be written: {}", options_.journal, std::strerror(errno)));
    }
    for (const auto& each : made) std::filesystem::remove(each, error);
    return done;
}

Result<void> WatchedPlay::open_journal(const run::PlayRequest& request) {
    const seats::Ranks* const ranks = context_.ranks;
    if (options_.journal.empty() && (ranks == nullptr || ranks->only_leads())) return {};
    const bool joined = ranks != nullptr && ranks->is_meeting();
    journals_ = joined ? allowed_directory() : journal_directory();
    if (journals_.empty()) return {};
    if (run_id_.empty()) run_id_ = ranks != nullptr ? ranks->run_id() : fmt::format("{:016x}", entropy64());
    seats_ = request.seats;
    const std::uint32_t part = ranks != nullptr ? ranks->part() : 0;
    const std::string path = join_path(journals_, seats::Journal::file_name(part, run_id_));
    RunResult before_play = run::not_played(request, context_.program);
    become_part(before_play, path);
    auto journal =
        seats::Journal::open(path, before_play, [this](const std::string& text) { say_always(text); });
    if (!journal && !options_.journal.empty()) return journal.error();
    if (journal) journal_ = std::move(*journal);
    if (journal && joined) {
        journal_to_remove_ = path;
        context_.ranks->keep_journal("");
    }
    if (!journal) say_always("no journal is kept: " + journal.error().problems.front());
    return {};
}

WatchedPlay::~WatchedPlay() {
    stop_journal();
    std::error_code error;
    if (!journal_to_remove_.empty()) std::filesystem::remove(system_path(journal_to_remove_), error);
}

/// The first one of this computer; empty: there is none.
std::string WatchedPlay::allowed_directory() {
    for (const std::string& place : target::allowed_places()) {
        std::error_code error;
        if (std::filesystem::is_directory(system_path(place), error)) return place;
    }
    return {};
}

/// Makes a result that of the part of the run that this process plays; any thread.
void WatchedPlay::become_part(RunResult& result, const std::string& journal) const {
    if (context_.ranks != nullptr) {
        if (result.seats.empty()) context_.ranks->become_own_part(result, journal);
        return;
    }
    SeatResult own;
    for (std::uint32_t seat = 0; seat < seats_; ++seat) own.seats.push_back(seat);
    if (!result.streams.empty()) own.start_ns = 0;
    own.journal = journal;
    result::become_part(run_id_, 1, std::move(own), result);
}

void WatchedPlay::follow_in_journal(run::Session& session) {
    if (journal_ == nullptr) return;
    // The path as a copy: journal_ is not for the journal's thread.
    journal_->follow([this, &session, path = journal_->path()] {
        std::optional<RunResult> result = session.snapshot();
        if (result) become_part(*result, path);
        return result;
    });
}

void WatchedPlay::stop_journal() {
    if (journal_ == nullptr) return;
    journal_->stop(context_.control.interrupted() ? kStoppedDiskTimeout : seats::Journal::kDiskTimeout);
    if (journal_->left_behind()) journal_to_remove_.clear();  // the removal would not return either
    journal_.reset();
}

void WatchedPlay::finish_journal(RunResult& result) {
    if (journal_ == nullptr) return;
    become_part(result, journal_->path());
    const Duration timeout = result.interrupted ? kInterruptedDiskTimeout : seats::Journal::kDiskTimeout;
    for (std::string& problem : journal_->finish(result, timeout)) result.notices.push_back(std::move(problem));
    stop_journal();
}

std::optional<Result<RunResult>> WatchedPlay::play(run::Session& session,
                                                   const run::PlayRequest& request,
                                                   const std::string& about,
                                                   bool streams_may_change,
                                                   const std::function<void(const RunResult&)>& keep) {
    std::optional<LivePlay> live;
    if (!options_.quiet) live_ = &live.emplace(context_, session, about, streams_may_change);
    const auto result = std::make_shared<std::optional<Result<RunResult>>>();  // as long as the thread lives
    run::Control::Work work;
    seats::Ranks* const ranks = context_.ranks;
    AllRanks all_ranks(ranks, session);
    const bool leads_only = ranks != nullptr && ranks->only_leads();
    if (live && ranks != nullptr) live->say_also([&] { return all_ranks.text(context_.control.now_ns()); });
    if (live && leads_only)
        live->show_instead([&] { return lines_of(all_ranks.rows(context_.control.now_ns())); });
    work.run = [this, result, &session, &request, keep, ranks] {
        result->emplace(ranks != nullptr ? play_own_part(session, request, keep) : session.execute());
    };
    AllRanks ranks_on_page(ranks, session);
    if (page_ && leads_only) {
        page_->follow([&] { return page_of(ranks_on_page, about, context_.control.now_ns()); });
    } else if (page_) {
        page_->follow(session, [&]() -> std::string {
            if (ranks == nullptr) return "";
            return ranks_on_page.text(context_.control.now_ns()) + "; below: the seats of this computer";
        });
    }
    work.on_interrupt = [&] {
        session.interrupt();
        if (ranks != nullptr) ranks->stop();
    };
    work.on_tick = [&] {
        if (ranks != nullptr) watch_ranks(session);
        if (live) live->tick();
        feed_metrics(session.watch(), about);
    };
    work.about_to_end = [&session] { return session.storage_is_over(); };
    if (ranks != nullptr) work.timeout.reset();  // the others are waited for, as ranks.stop() does
    const bool ended = context_.control.run(std::move(work));
    if (page_) page_->stop();
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
    if (journal_ != nullptr) how.journals = journals_;
    how.keep = [this](RunResult& part) { finish_journal(part); };
    how.virtual_time = request.target.is_virtual_time();
    how.preroll_took_too_long = session.preroll_took_too_long();
    how.nothing = [this, &request] { return run::not_played(request, context_.program); };
    how.meanwhile = keep;
    auto result = ranks.collect(std::move(own), how);
    if (result && !ranks.is_delivered()) {
        keep_undelivered(*result);
    } else if (result && !journal_to_remove_.empty()) {
        ranks.keep_journal(std::exchange(journal_to_remove_, {}));  // until the host has written its result
    }
    return result;
}

/// Nothing that was measured is lost with the host: it lies where this seat may write.
void WatchedPlay::keep_undelivered(const RunResult& part) {
    journal_to_remove_.clear();
    const std::string name = seats::Journal::file_name(context_.ranks->part(), context_.ranks->run_id());
    std::string problem = "no directory of this computer is allowed";
    for (const std::string& place : target::allowed_places()) {
        std::error_code error;
        if (!std::filesystem::is_directory(system_path(place), error)) continue;
        const std::string path = join_path(place, name);
        const auto written = write_document(path, R"({
  "schema": "streamsim.result")",
                                            result::json_report(part));
        if (written) {
            context_.log.error(
                "the host does not answer; {} has what this seat played: `streamsim report --merge` makes "
                "one "
                "result of all seats",
                path);
            return;
        }
        problem = written.error().problems.front();
    }
    context_.log.error("the host does not answer, and what this seat played is lost: {}", problem);
}

/// Ten times a second while it plays.
void WatchedPlay::watch_ranks(run::Session& session) {
    seats::Ranks& ranks = *context_.ranks;
    if (ranks.stopped() || ranks.play_is_off()) session.interrupt();
    for (std::string lost : ranks.newly_lost()) {
        if (!ranks.first()) {
            context_.log.set_level(spdlog::level::warn);  // nobody speaks for this seat any more
            lost += where_the_result_is(ranks, journal_ != nullptr ? journals_ : "");
        }
        say_always(lost);
    }
}

void WatchedPlay::say_notice(const std::string& notice) {
    if (live_ != nullptr || !options_.quiet) say_always(notice);
}

void WatchedPlay::say_always(const std::string& notice) {
    if (live_ != nullptr) return live_->say(notice);
    context_.log.warn(notice);
}

}  // namespace streamsim::cli
