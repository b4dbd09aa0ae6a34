#include "media/sequence_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace streamsim {
namespace {

constexpr int kDigitsMax = 20;  // of a 64-bit number

class SequenceIndex final : public FrameIndex {
public:
    explicit SequenceIndex(SequenceFacts facts)
        : facts_(std::move(facts)), stem_(join_path(facts_.directory, facts_.pattern.prefix)) {
        STREAMSIM_CHECK(facts_.count > 0, "a sequence has at least one frame");
        if (facts_.frame_sizes.empty()) return;
        STREAMSIM_CHECK(facts_.frame_sizes.size() == facts_.count, "each frame of the sequence has a size");
        facts_.frame_bytes = *std::max_element(facts_.frame_sizes.begin(), facts_.frame_sizes.end());
    }

    std::uint64_t count() const override { return facts_.count; }
    FrameRate rate() const override { return facts_.rate; }
    bool file_per_frame() const override { return true; }

    void write_path(std::uint64_t frame, char* into) const override {
        char digits[kDigitsMax];
        char* const end = digits + kDigitsMax;
        char* at = end;
        for (std::uint64_t rest = frame_number(frame); rest != 0 || at == end; rest /= 10) {
            *--at = static_cast<char>('0' + rest % 10);
        }
        into = std::copy(stem_.begin(), stem_.end(), into);
        for (auto have = end - at; have < facts_.pattern.digits; ++have) *into++ = '0';
        into = std::copy(at, end, into);
        into = std::copy(facts_.pattern.suffix.begin(), facts_.pattern.suffix.end(), into);
        *into = '\0';
    }
    std::size_t path_capacity() const override {
        const auto digits = static_cast<std::size_t>(std::max(facts_.pattern.digits, kDigitsMax));
        return stem_.size() + digits + facts_.pattern.suffix.size() + 1;
    }
    Extent extent(std::uint64_t frame) const override {
        return {0, facts_.frame_sizes.empty() ? facts_.frame_bytes : facts_.frame_sizes[frame]};
    }
    std::uint64_t largest_frame_bytes() const override { return facts_.frame_bytes; }
    std::uint64_t frame_number(std::uint64_t frame) const override { return facts_.first + frame; }

private:
    SequenceFacts facts_;
    std::string stem_;
};

}  // namespace

std::string FramePattern::name(std::uint64_t number) const {
    return fmt::format("{}{:0{}}{}", prefix, number, digits, suffix);
}

std::string FramePattern::show() const {
    return digits > 1 ? fmt::format("{}%0{}d{}", prefix, digits, suffix)
                      : fmt::format("{}%d{}", prefix, suffix);
}

FramePattern prepared_pattern(const std::string& suffix) {
    return {"frame.", 7, suffix};
}

std::shared_ptr<const FrameIndex> make_sequence_index(SequenceFacts facts) {
    return std::make_shared<SequenceIndex>(std::move(facts));
}

std::string join_path(const std::string& directory, const std::string& name) {
    if (directory.empty()) return name;
    return directory.back() == '/' ? directory + name : directory + "/" + name;
}

}  // namespace streamsim
