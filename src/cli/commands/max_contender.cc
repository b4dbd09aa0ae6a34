#include "cli/commands/max_contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "cli/play/ranks_run.h"
#include "run/plan/needs.h"

namespace streamsim::cli {
namespace {

constexpr Duration kStep = seconds(20);
constexpr Duration kConfirm = seconds(300);
constexpr Duration kConfirmVirtual = seconds(60);
/// The length of a run in read-aheads, at least: no frame that prerolled can be missed within one read-ahead.
constexpr std::uint64_t kReadaheadsPerRun = 5;

/// Errors: bad input where a run of the search would be no longer than its read-ahead, in which no frame is
/// missed.
Result<void> check_lengths(const std::vector<Contender>& all, std::optional<Duration> confirm) {
    Error error{ErrorKind::bad_input, {}};
    for (const Contender& contender : all) {
        const judge::MaxSearchOptions search = lengths(contender, confirm);
        const std::uint32_t readahead = contender.request.readahead;
        for (const auto& [option, length] :
             {std::pair("--duration", search.step), std::pair("--confirm", search.confirm)}) {
            if (length.ns == 0 || contender.rate.slots_in(length) > readahead) continue;
            error.problems.push_back(fmt::format(
                "{}: {} is no longer than the read-ahead of {}, in which no frame is missed ({} at {} fps): "
                "give more, or a smaller --readahead",
                option, show_duration(length), counted(readahead, "frame"), contender.name,
                contender.rate.to_string()));
        }
    }
    return error.problems.empty() ? Result<void>() : error;
}

/// The searches of a list by name, each with the clips that are there for it.
using Listed = std::vector<std::pair<std::string, std::uint64_t>>;

Listed listed(const std::vector<Contender>& all) {
    Listed out;
    for (const Contender& contender : all) {
        const std::size_t clips = contender.media.clips.empty() ? 0 : contender.media.clips.front().size();
        out.emplace_back(fmt::format("{} at {} fps", contender.name, contender.rate.to_string()), clips);
    }
    return out;
}

/// Searches are named by their places in the list, and play as many clips as the first computer has.
Result<void> check_alike(const Listed& of_first, const Listed& own) {
    Error error{ErrorKind::bad_input, {}};
    bool same_order = of_first.size() == own.size();
    for (std::size_t i = 0; i < of_first.size(); ++i) {
        const auto& what = of_first[i].first;
        const auto found = std::ranges::find(own, what, &Listed::value_type::first);
        const std::uint64_t clips = found == own.end() ? 0 : found->second;
        same_order = same_order && own[i].first == what;
        if (found != own.end() && clips >= of_first[i].second) continue;
        error.problems.push_back(
            fmt::format("sees {} of {}, and the first computer {}: expected the same media",
                        counted(clips, "clip"), what, of_first[i].second));
    }
    if (error.problems.empty() && !same_order)
        error.problems.emplace_back(
            "sees clips of other formats than the first computer: expected the same media");
    return error.problems.empty() ? Result<void>() : error;
}

}  // namespace

judge::MaxSearchOptions lengths(const Contender& contender, std::optional<Duration> confirm) {
    judge::MaxSearchOptions search;
    const run::PlayRequest& request = contender.request;
    const bool virtual_time = request.target.is_virtual_time();
    const Duration least = contender.rate.due(kReadaheadsPerRun * request.readahead);
    search.step = request.duration.value_or(std::max(kStep, least));
    search.confirm = confirm.value_or(std::max(virtual_time ? kConfirmVirtual : kConfirm, least));
    search.repeatable = !virtual_time;
    return search;
}

Result<void> agree_on_contenders(CommandContext& context,
                                 const Result<std::vector<Contender>>& all,
                                 std::optional<Duration> confirm) {
    auto agreed = together(context, all ? check_lengths(*all, confirm) : Result<void>(all.error()));
    if (!agreed || context.ranks == nullptr) return agreed;
    const Listed own = listed(*all);
    Result<Json> of_first = interrupted_error();
    wait_for_ranks(context.control, *context.ranks, [&] { of_first = context.ranks->share(own); });
    return together(context, of_first ? check_alike(of_first->get<Listed>(), own) : of_first.error());
}

bool ended_no_run(const MaxResult& result) {
    return std::ranges::all_of(result.formats, [](const MaxFormat& format) {
        return std::ranges::all_of(format.steps, &std::vector<MaxRun>::empty, &MaxStep::runs);
    });
}

void remember_places(Contender& contender) {
    if (contender.places != nullptr || contender.request.target.kind != target::Target::Kind::local) return;
    std::vector<const Clip*> clips;
    for (const auto& list : contender.media.clips) {
        for (const Clip& clip : list) clips.push_back(&clip);
    }
    contender.places = std::make_shared<target::TargetLocations>(target::directories_of(clips));
}

std::optional<MaxRun> run_without_storage(const Contender& contender, Duration length) {
    constexpr Duration kIdentityTimeout = seconds(2);
    if (contender.places == nullptr) return std::nullopt;
    const auto vanished = target::TargetLocations::vanished(contender.places, kIdentityTimeout);
    if (vanished.empty()) return std::nullopt;
    MaxRun run;
    run.duration_ns = length.ns;
    run.limit = Limit::storage;
    run.storage_gone = true;
    run.reason = fmt::format("{} vanished during the search: {}; how many streams it plays is not known",
                             vanished.front().path, vanished.front().how);
    return run;
}

Contender of_format(run::PlayRequest request, const MediaFormat& format) {
    request.formats = {format};
    return {.request = request,
            .name = format.name,
            .width = format.width,
            .height = format.height,
            .rate = request.rate.value_or(format.rate)};
}

std::vector<Contender> by_format(const run::PlayRequest& request, std::vector<Clip> clips) {
    std::vector<Contender> all;
    for (Clip& clip : clips) {
        auto same = std::find_if(all.begin(), all.end(), [&clip](const Contender& each) {
            return each.name == clip.format &&
                   each.media.clips.front().front().index->rate() == clip.index->rate();
        });
        if (same == all.end()) {
            same = all.insert(all.end(), Contender{.request = request, .name = clip.format, .ready = true});
            same->rate = request.rate.value_or(clip.index->rate());
            same->media.clips.emplace_back();
        }
        same->media.clips.front().push_back(std::move(clip));
    }
    return all;
}

run::FoundMedia first_of(const Contender& contender, const run::PlayRequest& request) {
    run::FoundMedia media = contender.media;
    if (!media.clips.empty()) media.clips.front().resize(run::clips_needed(request));
    return media;
}

}  // namespace streamsim::cli
