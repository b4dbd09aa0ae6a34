// The sentences about storage that vanished and about resources that this computer lacked.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/system/errno_name.h"
#include "base/units.h"
#include "judge/host_window.h"
#include "judge/sentences.h"

namespace streamsim::judge {
namespace {

std::string not_storage(const CauseResult& cause) {
    return fmt::format("{} cannot be held against the storage",
                       counted(cause.stalls > 0 ? cause.stalls : cause.frames, "frame"));
}

/// The memory of this computer over the whole time in which these frames were missed.
MemoryWindow memory_of(const CauseFrames& of) {
    const auto [from_ns, to_ns] = delivery_span(of.missed);
    return memory_window(of.run.system, from_ns, to_ns);
}

/// "tasks waited for memory in 24 % of the time in which frames were missed; ..."
std::string memory_text(const MemoryWindow& memory) {
    constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;
    std::string out = fmt::format("tasks waited for memory in {:.0f} % of the time in which frames were missed",
                                  memory.pressure.value_or(0) * 100);
    if (memory.limit_hits.value_or(0) > 0) {
        out += fmt::format("; a memory limit was reached {} times", show_count(*memory.limit_hits));
        if (memory.limit_bytes.value_or(kUnlimited) < kUnlimited)
            out += fmt::format(" (the control group of streamsim has {})", show_bytes(*memory.limit_bytes));
    }
    if (memory.refaulted_bytes.value_or(0) > 0) {
        out += fmt::format("; {} were evicted from the page cache and read again",
                           show_bytes(*memory.refaulted_bytes));
    }
    return out;
}

/// "EMFILE: Too many open files"
std::string errno_text(int error) {
    const char* const name = errno_name(error);
    const char* const description = errno_description(error);
    return fmt::format("{}: {}", name != nullptr ? name : "errno", description != nullptr ? description : "?");
}

/// Frames that failed, by the errno of the lacking resource.
std::map<int, std::uint64_t> shortages_of(const std::vector<const MissedFrame*>& missed) {
    std::map<int, std::uint64_t> out;
    for (const MissedFrame* each : missed) {
        if (each->shortage != 0) ++out[each->shortage];
    }
    return out;
}

std::string shortages_text(const std::map<int, std::uint64_t>& shortages) {
    std::string out;
    for (const auto& [error, frames] : shortages)
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", errno_text(error), counted(frames, "frame"));
    return out;
}

}  // namespace

void describe_gone(CauseResult& cause, const CauseFrames& of) {
    const MissedFrame* const first = *std::ranges::min_element(of.missed, {}, &MissedFrame::due_ns);
    const std::int64_t at_ns =
        std::max<std::int64_t>(first->due_ns - of.run.streams[first->stream].play_start_ns, 0);
    std::set<std::string> paths;
    for (const VanishedLocation& each : of.run.vanished) paths.insert(each.path);
    const VanishedLocation location = of.run.vanished.empty() ? VanishedLocation{} : of.run.vanished.front();
    const std::string more = paths.size() < 2 ? "" : fmt::format(" (and {} more)", paths.size() - 1);
    cause.summary = fmt::format("{}{} vanished {} into play: {}; {} could not be read", location.path, more,
                                show_duration({at_ns}), location.how, counted(cause.frames, "frame"));
    cause.detail =
        "neither the media nor the speed of the storage is the cause: whether it plays these streams is not "
        "known";
    if (location.directory != location.path)
        cause.detail += fmt::format("; the media are in {}", location.directory);
}

void describe_memory(CauseResult& cause, const CauseFrames& of) {
    cause.summary = "this computer had too little memory for what it reads: " + not_storage(cause);
    const MemoryWindow memory = memory_of(of);
    const auto shortages = shortages_of(of.missed);
    if (!shortages.empty()) cause.detail = shortages_text(shortages);
    if (memory_answer(memory) == MemoryAnswer::short_of || shortages.empty())
        cause.detail += (cause.detail.empty() ? "" : "; ") + memory_text(memory);
}

void describe_resources(CauseResult& cause, const CauseFrames& of) {
    const auto shortages = shortages_of(of.missed);
    const bool ports = shortages.contains(EADDRNOTAVAIL);
    cause.summary = fmt::format("this computer had no {} left: {}",
                                ports ? "port or address" : "file descriptor", not_storage(cause));
    cause.detail = shortages_text(shortages);
}

bool may_lack_memory(const CauseFrames& of) {
    return memory_answer(memory_of(of)) == MemoryAnswer::unknown;
}

void describe_unknown_memory(CauseResult& cause, const CauseFrames& of) {
    cause.summary =
        of.what + "; whether the storage or too little memory on this computer delayed them is not known";
    cause.detail = memory_text(memory_of(of)) + "; whether streamsim reached a memory limit is not known";
}

std::string next_of_shortage(Cause cause) {
    switch (cause) {
        case Cause::client_memory:
            return "give streamsim more memory (of its control group or container, or end other programs), or "
                   "play with --direct or a smaller --readahead, and measure again";
        case Cause::client_resources:
            return "raise the limit of open files (`ulimit -n`; of the whole computer sysctl fs.file-max), and "
                   "measure again";
        case Cause::storage_gone: return "bring back what vanished, and measure again";
        default: return {};
    }
}

}  // namespace streamsim::judge
