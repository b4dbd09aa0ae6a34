#include "judge/shortage_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/system/errno_name.h"
#include "base/units.h"
#include "judge/memory.h"
#include "judge/sentences.h"

namespace streamsim::judge {
namespace {

std::string innocent(const CauseResult& cause) {
    return fmt::format("{} cannot be held against the storage",
                       frames_text(cause.stalls > 0 ? cause.stalls : cause.frames));
}

/// Over the whole time in which these were missed.
MemoryWindow memory_of(const std::vector<const MissedFrame*>& missed, const Evidence& evidence) {
    std::int64_t from_ns = INT64_MAX;
    std::int64_t to_ns = INT64_MIN;
    for (const MissedFrame* each : missed) {
        from_ns = std::min(from_ns, each->submitted_ns.value_or(each->due_ns));
        to_ns = std::max({to_ns, each->due_ns, each->delivered_ns.value_or(INT64_MIN)});
    }
    return memory_window(evidence.system, from_ns, to_ns);
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
    const char* const words = errno_description(error);
    return fmt::format("{}: {}", name != nullptr ? name : "errno", words != nullptr ? words : "?");
}

/// How often each of them was lacking.
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
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", errno_text(error), frames_text(frames));
    return out;
}

}  // namespace

void describe_gone(CauseResult& cause,
                   const std::vector<const MissedFrame*>& missed,
                   const Evidence& evidence) {
    const MissedFrame* const first = *std::min_element(
        missed.begin(), missed.end(), [](const auto* a, const auto* b) { return a->due_ns < b->due_ns; });
    const std::int64_t at_ns =
        std::max<std::int64_t>(first->due_ns - evidence.streams[first->stream].play_start_ns, 0);
    std::set<std::string> paths;
    for (const VanishedPlace& each : evidence.vanished) paths.insert(each.path);
    const VanishedPlace place = evidence.vanished.empty() ? VanishedPlace{} : evidence.vanished.front();
    const std::string more = paths.size() < 2 ? "" : fmt::format(" (and {} more)", paths.size() - 1);
    cause.summary = fmt::format("{}{} vanished {} into play: {}; {} could not be read", place.path, more,
                                show_duration({at_ns}), place.how, frames_text(cause.frames));
    cause.detail =
        "neither the media nor the speed of the storage is the cause: whether it plays these streams is not "
        "known";
    if (place.directory != place.path) cause.detail += fmt::format("; the media are in {}", place.directory);
}

void describe_memory(CauseResult& cause,
                     const std::vector<const MissedFrame*>& missed,
                     const Evidence& evidence) {
    cause.summary = "this computer had too little memory for what it reads: " + innocent(cause);
    const MemoryWindow memory = memory_of(missed, evidence);
    const auto shortages = shortages_of(missed);
    if (!shortages.empty()) cause.detail = shortages_text(shortages);
    if (memory_answer(memory) == MemoryAnswer::short_of || shortages.empty())
        cause.detail += (cause.detail.empty() ? "" : "; ") + memory_text(memory);
}

void describe_resources(CauseResult& cause, const std::vector<const MissedFrame*>& missed) {
    const auto shortages = shortages_of(missed);
    const bool ports = shortages.contains(EADDRNOTAVAIL);
    cause.summary = fmt::format("this computer had no {} left: {}",
                                ports ? "port or address" : "file descriptor", innocent(cause));
    cause.detail = shortages_text(shortages);
}

bool describe_unknown_memory(CauseResult& cause,
                             const std::vector<const MissedFrame*>& missed,
                             const Evidence& evidence,
                             const std::string& what) {
    const MemoryWindow memory = memory_of(missed, evidence);
    if (memory_answer(memory) != MemoryAnswer::unknown) return false;
    cause.summary =
        what + "; whether the storage or too little memory on this computer delayed them is not known";
    cause.detail = memory_text(memory) + "; whether streamsim reached a memory limit is not known";
    return true;
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
