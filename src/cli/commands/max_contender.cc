#include "cli/commands/max_contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "run/plan/needs.h"

namespace streamsim::cli {
namespace {

constexpr Duration kStep = seconds(20);
constexpr Duration kConfirm = seconds(300);
constexpr Duration kConfirmVirtual = seconds(60);
/// The length of a run in read-aheads, at least: no frame that prerolled can be missed within one read-ahead.
constexpr std::uint64_t kReadaheadsPerRun = 5;

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
