// Fixture of the tests of cut lists: clips of any length from two files, and the picture of a list at a frame.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "media/cuts/cut_list.h"
#include "unit/media/fixtures.h"

namespace streamsim::testing {

using Texts = std::vector<std::string>;

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

class Cuts : public ::testing::Test {
protected:
    /// A DPX sequence "NAME/NAME.0000100.dpx" of frames [first, last]; what lies between is missing, but has
    /// its slots.
    void add(const std::string& name, int first, int last, FrameRate rate = {24, 1}) const {
        const MediaFormat format = small_dpx("tiny", 16, 8, 10, rate);
        char digits[2][16];
        std::snprintf(digits[0], sizeof digits[0], "%07d", first);
        std::snprintf(digits[1], sizeof digits[1], "%07d", last);
        const std::string base = name.substr(name.rfind('/') + 1);
        write_sequence(place_, name + "/" + base + ".", ".dpx", {digits[0], digits[1]}, format);
    }

    Result<CutList> resolve(std::string_view text,
                            std::optional<FrameRate> rate = std::nullopt,
                            const std::string& source = "list.edl") {
        auto list = media::parse_cut_list(text, source);
        if (!list) return list.error();
        return resolve_cut_list(store_, place_.path(), *list, rate);
    }

    CutList cuts(std::string_view text, std::optional<FrameRate> rate = std::nullopt) {
        auto list = resolve(text, rate);
        EXPECT_TRUE(list.has_value()) << (list ? "" : all_problems(list.error()));
        return list ? std::move(*list) : CutList{};
    }

    std::string problems(std::string_view text, std::optional<FrameRate> rate = std::nullopt) {
        const auto list = resolve(text, rate);
        return list ? "none" : all_problems(list.error());
    }

    Place place_;
    DirectoryStore store_;
};

/// "A 12", in a transition "A 12 + B 3", or "black".
inline std::string shown(const CutList& list, std::uint64_t frame) {
    std::string out;
    for (const CutSegment& segment : list.segments) {
        if (frame < segment.at || frame >= segment.at + segment.frames) continue;
        out += (out.empty() ? "" : " + ") + list.clips[segment.clip].name + " " +
               std::to_string(clip_frame_at(segment, frame));
    }
    return out.empty() ? "black" : out;
}

/// shown() for frames [from, to).
inline std::vector<std::string> shown(const CutList& list, std::uint64_t from, std::uint64_t to) {
    std::vector<std::string> out;
    for (; from < to; ++from) out.push_back(shown(list, from));
    return out;
}

inline std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += text + "\n";
    return out;
}

}  // namespace streamsim::testing
