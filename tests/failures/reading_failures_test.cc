// Media and cut lists that are looked at on storage that fails at its k-th call: nothing is written, and all
// that is told without an error or a further note is the whole truth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "failures/media_trials.h"
#include "media/catalogue/catalogue.h"
#include "media/clips/clip_index.h"
#include "media/clips/frame_checksums.h"
#include "media/cuts/cut_list.h"
#include "media/write/clip_content.h"
#include "media/write/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using testing::at_every_call;
using testing::empty_disk;
using testing::kTarget;
using testing::MemoryDisk;
using testing::Tree;
using testing::Trials;

/// The media that prepare makes of a format.
Tree prepared(const MediaFormat& format) {
    MemoryDisk disk;
    (void)disk.make_directories(kTarget);
    const auto plan = plan_prepare(disk, {kTarget, format, 1, milliseconds(125), 1});
    EXPECT_TRUE(plan) << all_problems(plan.error());
    PrepareProgress progress;
    if (plan) EXPECT_TRUE(prepare(disk, *plan, progress));
    return disk.tree();
}

std::optional<MediaFormat> smallest_in(MediaFormat::Container container) {
    const Catalogue catalogue = testing::shipped_formats();
    const MediaFormat* smallest = nullptr;
    for (const MediaFormat& each : catalogue.formats()) {
        if (each.container != container || !each.not_prepared.empty()) continue;
        if (smallest == nullptr || each.mean_frame_bytes < smallest->mean_frame_bytes) smallest = &each;
    }
    return smallest == nullptr ? std::nullopt : std::optional(*smallest);
}

/// Media of others below /u: containers of each kind, a sequence in a folder, and a file that is no media.
Tree media_of_others() {
    Tree files{{"/u/notes.txt", "of others"}, {"/u/broken.mov", "no container"}};
    const auto add = [&files](const MediaFormat& format, const std::string& as) {
        for (const auto& [path, bytes] : prepared(format)) {
            if (path.ends_with(".mov") || path.ends_with(".mp4") || path.ends_with(".mxf")) files[as] = bytes;
            if (path.ends_with(".dpx")) files[join_path(as, base_name(path))] = bytes;
        }
    };
    add(testing::small_prores("mini", 64, 36, 1'000), "/u/a.mov");
    if (const auto format = smallest_in(MediaFormat::Container::mp4)) add(*format, "/u/deeper/b.mp4");
    if (const auto format = smallest_in(MediaFormat::Container::mxf)) add(*format, "/u/deeper/c.mxf");
    add(testing::small_dpx("tiny", 4, 4, 10, {30, 1}), "/u/seq");
    EXPECT_GE(files.size(), 8u);
    return files;
}

std::string told(const Clip& clip) {
    std::string out = fmt::format("{}: {} frames", clip.name, clip.index->count());
    for (std::uint64_t frame = 0; frame < clip.index->count(); ++frame) {
        const Extent extent = clip.index->extent(frame);
        out += fmt::format(", {} {} {}", clip.index->path_of(frame), extent.offset, extent.bytes);
    }
    return out;
}

struct Told {
    std::string words;
    std::vector<std::string> notes;
};

/// With a failure `act` tells the same words as without one, or returns an error, or notes something more.
void expect_truth(const Tree& files,
                  const std::function<Result<void>(ByteStore&, Told&)>& act,
                  std::uint64_t step = 1) {
    const auto disk = [&files] {
        auto made = empty_disk();
        for (const auto& [path, bytes] : files)
            if (!path.ends_with('/')) made->put(path, bytes);
        return made;
    };
    const auto healthy = disk();
    const Tree before = healthy->tree();
    Told truth, seen;
    const auto done = act(*healthy, truth);
    ASSERT_TRUE(done) << all_problems(done.error());
    ASSERT_FALSE(truth.words.empty());
    at_every_call(
        Trials{step, 1}, disk,
        [&](ByteStore& store) {
            seen = {};
            return act(store, seen);
        },
        [&](const MemoryDisk& left, bool told_done) {
            EXPECT_EQ(left.tree(), before);
            const auto is_new = [&truth](const std::string& note) {
                return std::find(truth.notes.begin(), truth.notes.end(), note) == truth.notes.end();
            };
            if (!told_done || std::any_of(seen.notes.begin(), seen.notes.end(), is_new)) return;
            EXPECT_EQ(seen.words, truth.words);
            EXPECT_EQ(seen.notes, truth.notes);
        });
}

TEST(ReadingFailures, OfAClip) {
    const Tree files = media_of_others();
    for (const char* const path : {"/u/a.mov", "/u/deeper/b.mp4", "/u/deeper/c.mxf", "/u/seq"}) {
        SCOPED_TRACE(path);
        expect_truth(files, [&](ByteStore& store, Told& all) -> Result<void> {
            IndexOptions options;
            options.audio = true;
            const auto clip = index_clip(store, path, options);
            if (!clip) return clip.error();
            all = {told(*clip), clip->notes};
            return {};
        });
    }
}

TEST(ReadingFailures, OfAFolder) {
    Tree files = media_of_others();
    files.erase("/u/broken.mov");
    expect_truth(
        files,
        [&](ByteStore& store, Told& all) -> Result<void> {
            const auto clips = clips_in(store, "/u");
            if (!clips) return clips.error();
            for (const Clip& clip : *clips) {
                all.words += told(clip) + "\n";
                all.notes.insert(all.notes.end(), clip.notes.begin(), clip.notes.end());
                all.notes.insert(all.notes.end(), clip.skipped.begin(), clip.skipped.end());
            }
            return {};
        },
        5);
}

TEST(ReadingFailures, OfACutList) {
    const auto list = parse_cut_list(
        "TITLE: CUT\nFCM: NON-DROP FRAME\n"
        "001  AX V C 00:00:00:00 00:00:00:02 01:00:00:00 01:00:00:02\n"
        "* FROM CLIP NAME: a.mov\n"
        "002  AX V C 00:00:00:01 00:00:00:03 01:00:00:02 01:00:00:04\n"
        "* FROM CLIP NAME: seq\n",
        "cut.edl");
    ASSERT_TRUE(list) << all_problems(list.error());
    expect_truth(media_of_others(), [&](ByteStore& store, Told& all) -> Result<void> {
        const auto cuts = resolve_cut_list(store, "/u", *list, FrameRate{30, 1});
        if (!cuts) return cuts.error();
        for (const Clip& clip : cuts->clips) all.words += told(clip) + "\n";
        all.notes = cuts->notes;
        return {};
    });
}

TEST(ReadingFailures, OfContents) {
    const MediaFormat sequence = testing::small_dpx("tiny", 4, 4, 10);
    const MediaFormat container = testing::small_prores("mini", 64, 36, 1'000);
    for (const MediaFormat& format : {sequence, container}) {
        expect_truth(prepared(format), [&](ByteStore& store, Told& all) -> Result<void> {
            const auto clips = complete_clips(store, kTarget, format, std::nullopt);
            if (!clips) return clips.error();
            for (const Clip& clip : *clips) {
                const auto known = with_content(store, clip);
                if (!known) return known.error();
                all.words += told(*known);
                all.notes.insert(all.notes.end(), known->notes.begin(), known->notes.end());
            }
            if (clips->empty()) all.notes.emplace_back("no clip is complete");
            return {};
        });
    }
    // Media of others have checksums that were kept.
    auto kept = empty_disk();
    for (const auto& [path, bytes] : media_of_others()) kept->put(path, bytes);
    for (const char* const path : {"/u/a.mov", "/u/seq"}) {
        const auto clip = index_clip(*kept, path);
        ASSERT_TRUE(clip) << all_problems(clip.error());
        IndexProgress progress;
        ASSERT_TRUE(keep_checksums(*kept, *clip, progress));
        expect_truth(kept->tree(), [&](ByteStore& store, Told& all) -> Result<void> {
            const auto indexed = index_clip(store, path);
            if (!indexed) return indexed.error();
            const auto known = with_content(store, *indexed);
            if (!known) return known.error();
            all = {told(*known), known->notes};
            return {};
        });
    }
}

TEST(ReadingFailures, OfAPlan) {
    const MediaFormat format = testing::small_dpx("tiny", 4, 4, 10);
    expect_truth(prepared(format), [&](ByteStore& store, Told& all) -> Result<void> {
        const auto plan = plan_prepare(store, {kTarget, format, 3, milliseconds(125), 1});
        if (!plan) return plan.error();
        all.words = fmt::format("{} there, {} to write", plan->clips_there, plan->bytes_to_write);
        for (const PlannedClip& clip : plan->missing) all.words += " " + clip.path;
        all.notes = plan->notes;
        return {};
    });
}

}  // namespace
}  // namespace streamsim::media
