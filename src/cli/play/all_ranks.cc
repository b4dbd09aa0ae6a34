#include "cli/play/all_ranks.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/units.h"
#include "cli/output/cli_context.h"

namespace streamsim::cli {
namespace {

/// Adds the state of a session's meters.
void add_meters(const std::vector<load::MeterPlan>& meters, seats::RankProgress& rank) {
    std::set<std::uint32_t> seats;
    for (const load::MeterPlan& meter : meters) {
        seats.insert(meter.seat);
        const MeterProgress& progress = *meter.progress;
        rank.operations += progress.done.load(std::memory_order_relaxed);
        rank.operations_failed += progress.failed.load(std::memory_order_relaxed);
        rank.meter_bytes += progress.bytes_read.load(std::memory_order_relaxed) +
                            progress.bytes_written.load(std::memory_order_relaxed);
    }
    rank.clients = static_cast<std::uint32_t>(seats.size());
}

/// "0", or "3, 1 stall"
std::string missed_text(const seats::RankProgress& rank, const char* word) {
    const std::string stalls = rank.stalls > 0 ? ", " + counted(rank.stalls, "stall") : "";
    return show_count(rank.bad) + word + stalls;
}

}  // namespace

seats::RankProgress progress_of(const run::Session::Watch& watch) {
    seats::RankProgress rank;
    if (watch.streams == nullptr) return rank;
    add_meters(*watch.meters, rank);
    const std::size_t count = watch.streams->size();
    for (std::size_t i = 0; i < count; ++i) {
        const StreamProgress& progress = (*watch.progress)[i];
        const StreamState state = progress.state.load(std::memory_order_relaxed);
        const bool over = state == StreamState::ended || state == StreamState::removed;
        rank.streams += over ? 0 : 1;
        rank.on_time += progress.on_time.load(std::memory_order_relaxed);
        rank.bad += progress.bad.load(std::memory_order_relaxed);
        rank.stalls += progress.stalls.load(std::memory_order_relaxed);
        const bool records = (*watch.streams)[i].record != nullptr;
        (records ? rank.bytes_written : rank.bytes_read) += progress.bytes.load(std::memory_order_relaxed);
        if (!over) rank.required_bytes_per_s += (*watch.streams)[i].required_bytes_per_s();
    }
    return rank;
}

/// The others tell once a second: over less than some seconds there is no rate.
void AllRanks::Rate::measure(const seats::RankProgress& progress, std::int64_t now_ns) {
    constexpr std::int64_t kRateOverNs = 3'000'000'000;
    if (since_ns > 0 && now_ns - since_ns < kRateOverNs) return;
    const auto rate = [&](std::uint64_t now, std::uint64_t then, double& per_s) {
        if (since_ns > 0 && now >= then)
            per_s = static_cast<double>(now - then) * 1e9 / static_cast<double>(now_ns - since_ns);
    };
    rate(progress.bytes_read, since.bytes_read, read_bytes_per_s);
    rate(progress.bytes_written, since.bytes_written, written_bytes_per_s);
    rate(progress.operations, since.operations, operations_per_s);
    rate(progress.meter_bytes, since.meter_bytes, meter_bytes_per_s);
    known = since_ns > 0;
    since_ns = now_ns;
    since = progress;
}

std::string AllRanks::text(std::int64_t now_ns) {
    seats::RankProgress all = progress_of(session_.watch());
    std::size_t seats = ranks_->is_meeting() ? 0 : 1;
    for (const auto& rank : ranks_->progress_of_others()) {
        if (!rank) continue;
        ++seats;
        all += *rank;
    }
    all_.measure(all, now_ns);
    const std::string streams =
        fmt::format("{} stream{}, {} of {}, {}", all.streams, all.streams == 1 ? "" : "s",
                    show_rate(all_.read_bytes_per_s + all_.written_bytes_per_s),
                    show_rate(all.required_bytes_per_s), missed_text(all, " missed"));
    const std::string meters =
        fmt::format("{} client{}, {} op/s, {}, {} failed", all.clients, all.clients == 1 ? "" : "s",
                    show_count(nearest_whole(all_.operations_per_s)), show_rate(all_.meter_bytes_per_s),
                    show_count(all.operations_failed));
    const bool plays = all.streams > 0 || all.on_time + all.bad > 0 || all.clients == 0;
    return fmt::format("{} of {} {}: {}{}{}", seats, ranks_->players(),
                       ranks_->is_meeting() ? "computers" : "ranks", plays ? streams : "",
                       plays && all.clients > 0 ? "; " : "", all.clients > 0 ? meters : "");
}

const std::vector<std::string>& AllRanks::headings() {
    static const std::vector<std::string> all = {"seat",     "streams", "read",   "written",
                                                 "required", "on time", "missed", "other load"};
    return all;
}

std::vector<AllRanks::Row> AllRanks::rows(std::int64_t now_ns) {
    const auto all = ranks_->progress_of_others();
    each_.resize(all.size());
    std::vector<Row> rows;
    for (std::uint32_t rank = ranks_->size() - ranks_->players(); rank < all.size(); ++rank) {
        if (!all[rank]) {
            rows.push_back({{ranks_->name_of(rank), "-", "-", "-", "-", "-", "-", ""}, false, true});
            continue;
        }
        const seats::RankProgress& now = *all[rank];
        each_[rank].measure(now, now_ns);
        const std::string load =
            now.clients == 0
                ? ""
                : fmt::format("{} op/s, {}", show_count(nearest_whole(each_[rank].operations_per_s)),
                              show_rate(each_[rank].meter_bytes_per_s));
        rows.push_back(
            {{ranks_->name_of(rank), std::to_string(now.streams),
              each_[rank].known ? show_rate(each_[rank].read_bytes_per_s) : "-",
              each_[rank].known ? show_rate(each_[rank].written_bytes_per_s) : "-",
              show_rate(now.required_bytes_per_s), show_count(now.on_time), missed_text(now, ""), load},
             now.bad + now.stalls + now.operations_failed > 0,
             false});
    }
    return rows;
}

}  // namespace streamsim::cli
