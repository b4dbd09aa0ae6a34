#include "media/sequence/frame_gaps.h"

#include <fmt/format.h>

#include "base/units.h"

namespace streamsim::media {
namespace {

constexpr std::uint64_t kNamed = 5;

}  // namespace

void FrameGaps::add(std::uint64_t first, std::uint64_t last) {
    missing_ += last - first + 1;
    if (++gaps_ > kNamed) return;
    if (!first_few_.empty()) first_few_ += ", ";
    first_few_ += first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

std::string FrameGaps::text() const {
    if (missing_ == 0) return "";
    const std::string more = gaps_ > kNamed ? fmt::format(" and {} more gaps", show_count(gaps_ - kNamed)) : "";
    return fmt::format("{} frame {} missing: {}{}", show_count(missing_),
                       missing_ == 1 ? "number is" : "numbers are", first_few_, more);
}

FrameGaps gaps_of(const SequenceFacts& facts) {
    FrameGaps gaps;
    if (facts.listed.empty()) return gaps;
    std::uint64_t next = 0;
    for (const FrameRun& run : facts.listed) {
        if (run.first > next) gaps.add(facts.first + next, facts.first + run.first - 1);
        next = run.first + run.count;
    }
    if (next < facts.count) gaps.add(facts.first + next, facts.first + facts.count - 1);
    return gaps;
}

}  // namespace streamsim::media
