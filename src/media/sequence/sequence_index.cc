#include "media/sequence/sequence_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/path.h"
#include "base/units.h"

namespace streamsim::media {
namespace {

constexpr int kDigitsMax = 20;           // digits of a 64-bit number
constexpr std::uint64_t kGapsNamed = 5;  // gaps in a message; the others are counted

class SequenceIndex final : public FrameIndex {
public:
    explicit SequenceIndex(SequenceFacts facts)
        : facts_(std::move(facts)), stem_(join_path(facts_.directory, facts_.pattern.prefix)) {
        STREAMSIM_CHECK(facts_.count > 0, "a sequence has at least one frame");
        largest_ = facts_.frame_bytes;
        for (const std::uint64_t bytes : facts_.frame_sizes) largest_ = std::max(largest_, bytes);
    }

    std::uint64_t count() const override { return facts_.count; }
    FrameRate rate() const override { return facts_.rate; }
    bool file_per_frame() const override { return true; }

    void write_path(std::uint64_t frame, char* into) const override {
        const bool special = !facts_.names.empty() || !facts_.other_case.empty();
        const auto listed = special ? listed_index(frame) : std::nullopt;
        if (listed && !facts_.names.empty()) {
            const std::string& name = facts_.names[*listed];
            const auto prefix_bytes = static_cast<std::ptrdiff_t>(facts_.pattern.prefix.size());
            into = std::copy(stem_.begin(), stem_.end() - prefix_bytes, into);
            *std::copy(name.begin(), name.end(), into) = '\0';
            return;
        }
        into = std::copy(stem_.begin(), stem_.end(), into);
        if (facts_.pattern.digits > 0) into = write_number(frame_number(frame), into);
        const bool other = listed && facts_.other_case[*listed];
        const std::string& suffix = other ? facts_.other_suffix : facts_.pattern.suffix;
        *std::copy(suffix.begin(), suffix.end(), into) = '\0';
    }
    std::size_t path_capacity() const override {
        const auto digits = static_cast<std::size_t>(std::max(facts_.pattern.digits, kDigitsMax));
        std::size_t name = facts_.pattern.prefix.size() + digits +
                           std::max(facts_.pattern.suffix.size(), facts_.other_suffix.size());
        for (const std::string& own : facts_.names) name = std::max(name, own.size());
        return stem_.size() - facts_.pattern.prefix.size() + name + 1;
    }
    Extent extent(std::uint64_t frame) const override {
        if (facts_.frame_sizes.empty()) return {0, facts_.frame_bytes};
        const auto listed = listed_index(frame);
        return {0, listed ? facts_.frame_sizes[*listed] : facts_.frame_bytes};
    }
    std::uint64_t largest_frame_bytes() const override { return largest_; }
    std::uint64_t frame_number(std::uint64_t frame) const override { return facts_.first + frame; }
    bool listed(std::uint64_t frame) const override { return listed_index(frame).has_value(); }

    const SequenceFacts& facts() const { return facts_; }

private:
    char* write_number(std::uint64_t number, char* into) const {
        char digits[kDigitsMax];
        char* const end = digits + kDigitsMax;
        char* at = end;
        for (std::uint64_t rest = number; rest != 0 || at == end; rest /= 10) {
            *--at = static_cast<char>('0' + rest % 10);
        }
        for (auto have = end - at; have < facts_.pattern.digits; ++have) *into++ = '0';
        return std::copy(at, end, into);
    }

    /// Number of listed frames before this one; empty when this one is not listed.
    std::optional<std::size_t> listed_index(std::uint64_t frame) const {
        if (facts_.listed.empty()) return static_cast<std::size_t>(frame);
        auto run = std::upper_bound(facts_.listed.begin(), facts_.listed.end(), frame,
                                    [](std::uint64_t at, const FrameRun& r) { return at < r.first; });
        if (run == facts_.listed.begin()) return std::nullopt;
        --run;
        if (frame - run->first >= run->count) return std::nullopt;
        return static_cast<std::size_t>(run->before + (frame - run->first));
    }

    SequenceFacts facts_;
    std::string stem_;
    std::uint64_t largest_ = 0;
};

}  // namespace

std::string FramePattern::name(std::uint64_t number) const {
    return digits == 0 ? prefix + suffix : fmt::format("{}{:0{}}{}", prefix, number, digits, suffix);
}

std::string FramePattern::show() const {
    if (digits == 0) return prefix + suffix;
    return prefix + (digits > 1 ? fmt::format("%0{}d", digits) : "%d") + suffix;
}

FramePattern prepared_pattern(std::string_view extension) {
    return {"frame.", 7, fmt::format(".{}", extension)};
}

std::shared_ptr<const FrameIndex> make_sequence_index(SequenceFacts facts) {
    return std::make_shared<SequenceIndex>(std::move(facts));
}

const SequenceFacts* sequence_facts(const FrameIndex& index) {
    const auto* const sequence = dynamic_cast<const SequenceIndex*>(&index);
    return sequence == nullptr ? nullptr : &sequence->facts();
}

FrameGaps gaps_of(const SequenceFacts& facts) {
    FrameGaps out;
    std::uint64_t gaps = 0;
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        if (begin >= end) return;
        out.missing += end - begin;
        if (++gaps > kGapsNamed) return;
        if (!out.text.empty()) out.text += ", ";
        out.text += std::to_string(facts.first + begin);
        if (end - begin > 1) out.text += fmt::format(" to {}", facts.first + end - 1);
    };
    if (facts.listed.empty()) return out;
    std::uint64_t next = 0;
    for (const FrameRun& run : facts.listed) {
        add(next, run.first);
        next = run.first + run.count;
    }
    add(next, facts.count);
    if (out.missing == 0) return out;
    const std::string more =
        gaps > kGapsNamed ? fmt::format(" and {} more gaps", show_count(gaps - kGapsNamed)) : "";
    out.text = fmt::format("{} frame {} missing: {}{}", show_count(out.missing),
                           out.missing == 1 ? "number is" : "numbers are", out.text, more);
    return out;
}

std::vector<FrameRun> runs_of(std::span<const std::uint64_t> numbers, std::uint64_t first) {
    std::vector<FrameRun> runs;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint64_t frame = numbers[i] - first;
        if (!runs.empty() && runs.back().first + runs.back().count == frame) {
            ++runs.back().count;
        } else {
            runs.push_back({frame, 1, i});
        }
    }
    return runs;
}

}  // namespace streamsim::media
