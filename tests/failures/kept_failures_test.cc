// Files that streamsim keeps beside media, recordings, working sets and locks, on storage that fails at its
// k-th call, for all k.
#include <gtest/gtest.h>

#include <cstring>

#include "base/path.h"
#include "failures/media_trials.h"
#include "media/clips/clip_index.h"
#include "media/clips/frame_checksums.h"
#include "media/write/load_set.h"
#include "media/write/media_lock.h"
#include "media/write/media_set.h"
#include "media/write/recording.h"
#include "streamsim/verifier.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using testing::at_every_call;
using testing::empty_disk;
using testing::expect_cleaned;
using testing::foreign;
using testing::kTarget;
using testing::MemoryDisk;
using testing::Tree;
using testing::Trials;

/// Media of others: one clip that prepare made elsewhere, as "/u/a.mov" or "/u/seq/frame.0000001.dpx".
Tree clip_of_others(const MediaFormat& format) {
    MemoryDisk disk;
    (void)disk.make_directories(kTarget);
    const PrepareRequest request{kTarget, format, 1, milliseconds(125), 1};
    const auto plan = plan_prepare(disk, request);
    EXPECT_TRUE(plan) << all_problems(plan.error());
    PrepareProgress progress;
    EXPECT_TRUE(prepare(disk, *plan, progress));
    Tree files;
    for (const auto& [path, bytes] : disk.tree()) {
        if (path.ends_with(".mov")) files["/u/a.mov"] = bytes;
        if (path.ends_with(".dpx")) files["/u/seq/" + base_name(path)] = bytes;
    }
    EXPECT_FALSE(files.empty());
    return files;
}

std::unique_ptr<MemoryDisk> disk_with(const Tree& files) {
    auto disk = empty_disk();
    for (const auto& [path, bytes] : files) disk->put(path, bytes);
    return disk;
}

/// The media are as they were. Returns the other files below /u.
Tree expect_unchanged(const MemoryDisk& disk, const Tree& files) {
    Tree more;
    Tree left = disk.tree();
    for (const auto& [path, bytes] : left)
        if (path.starts_with("/u/") && !path.ends_with('/') && !files.contains(path)) more[path] = bytes;
    for (const auto& [path, bytes] : files) EXPECT_EQ(left[path], bytes) << path;
    for (const auto& [path, bytes] : foreign()) EXPECT_EQ(left[path], bytes) << path;
    return more;
}

Result<void> keep_checksums_of(ByteStore& store, const std::string& path) {
    const auto clip = index_clip(store, path);
    if (!clip) return clip.error();
    IndexProgress progress;
    return keep_checksums(store, *clip, progress);
}

void expect_right_checksums(MemoryDisk& disk, const std::string& path) {
    const auto clip = index_clip(disk, path);
    ASSERT_TRUE(clip) << all_problems(clip.error());
    const auto kept = kept_checksums(disk, *clip);
    ASSERT_TRUE(kept) << all_problems(kept.error());
    for (std::uint64_t frame = 0; frame < clip->index->count(); ++frame) {
        const Extent extent = clip->index->extent(frame);
        std::vector<std::byte> bytes(extent.bytes);
        const auto file = disk.open(clip->index->path_of(frame));
        ASSERT_TRUE(file);
        ASSERT_TRUE((*file)->read_at(extent.offset, bytes));
        const ContentPiece piece{extent.offset, bytes};
        EXPECT_FALSE((*kept)->first_difference(frame, std::span(&piece, 1))) << frame;
    }
}

/// Kept checksums with their final name are right, or there are none.
TEST(KeptFailures, ChecksumsAreKeptWholeOrNotAtAll) {
    for (const bool sequence : {true, false}) {
        const Tree files = clip_of_others(sequence ? testing::small_dpx("tiny", 4, 4, 10)
                                                   : testing::small_prores("mini", 64, 36, 1'000));
        const std::string path = sequence ? "/u/seq" : "/u/a.mov";
        at_every_call(
            Trials{1, 1}, [&] { return disk_with(files); },
            [&](ByteStore& store) { return keep_checksums_of(store, path); },
            [&](MemoryDisk& left, bool told_done) {
                const auto is_whole = [](const auto& file) { return file.first.ends_with(kChecksumsSuffix); };
                Tree more = expect_unchanged(left, files);
                const bool kept = std::any_of(more.begin(), more.end(), is_whole);
                EXPECT_TRUE(kept || !told_done);
                if (!kept) {
                    const auto again = keep_checksums_of(left, path);
                    ASSERT_TRUE(again) << all_problems(again.error());
                }
                expect_right_checksums(left, path);
            });
    }
}

TEST(KeptFailures, AnIndexIsKeptWholeOrNotAtAll) {
    const Tree files = clip_of_others(testing::small_prores("mini", 64, 36, 1'000));
    IndexOptions options;
    options.keep_index = true;
    const auto index = [&](ByteStore& store) -> Result<Clip> { return index_clip(store, "/u/a.mov", options); };
    const auto expect_same = [](const Clip& a, const Clip& b) {
        ASSERT_EQ(a.index->count(), b.index->count());
        for (std::uint64_t frame = 0; frame < a.index->count(); ++frame) {
            EXPECT_EQ(a.index->extent(frame).offset, b.index->extent(frame).offset);
            EXPECT_EQ(a.index->extent(frame).bytes, b.index->extent(frame).bytes);
        }
    };
    const auto fresh = index_clip(*disk_with(files), "/u/a.mov");
    ASSERT_TRUE(fresh) << all_problems(fresh.error());
    for (const bool again : {false, true}) {
        at_every_call(
            Trials{1, 2},
            [&] {
                auto disk = disk_with(files);
                if (again) EXPECT_TRUE(index(*disk));
                return disk;
            },
            [&](ByteStore& store) -> Result<void> {
                const auto clip = index(store);
                if (!clip) return clip.error();
                expect_same(*clip, *fresh);
                return {};
            },
            [&](MemoryDisk& left, bool) {
                (void)expect_unchanged(left, files);
                for (int i = 0; i < 2; ++i) {
                    const auto clip = index(left);
                    ASSERT_TRUE(clip) << all_problems(clip.error());
                    expect_same(*clip, *fresh);
                }
                EXPECT_TRUE(left.tree().contains("/u/a.mov.streamsim-index"));
            });
    }
}

/// A run that records one stream and removes its recordings.
Result<void> record_and_remove(ByteStore& store, bool remove) {
    const auto directory = make_recordings(store, kTarget);
    if (!directory) return directory.error();
    const std::string probe = join_path(*directory, recording_name(0, 0).append(kAlignmentKind));
    auto made = store.create(probe);
    if (!made) return made.error();
    if (auto closed = (*made)->close(); !closed) return closed;
    if (auto removed = store.remove(probe); !removed) return removed;
    const MediaFormat format = testing::small_dpx("tiny", 4, 4, 10);
    const RecordedStream stream = recorded_stream(format, recording_name(0, 0), 3);
    if (auto done = record_streams(store, kTarget, *directory, {stream}); !done) return done;
    const std::string frames = join_path(*directory, stream.name);
    if (auto below = store.make_directories(frames); !below) return below;
    for (const char* frame : {"frame.0000001.dpx", "frame.0000002.dpx"}) {
        auto sink = store.create(join_path(frames, frame));
        if (!sink) return sink.error();
        if (auto written = (*sink)->write_at(0, std::vector<std::byte>(100)); !written) return written;
        if (auto closed = (*sink)->close(); !closed) return closed;
    }
    if (!remove) return {};
    const auto problems = remove_recordings(store, kTarget, *directory);
    return problems.empty() ? Result<void>{} : environment_error(problems.front());
}

TEST(KeptFailures, RecordingsAreRemovedByTheirRunOrByClean) {
    for (const bool remove : {false, true}) {
        at_every_call(
            Trials{1, 2}, [] { return empty_disk(); },
            [&](ByteStore& store) { return record_and_remove(store, remove); },
            [&](MemoryDisk& left, bool told_done) {
                if (remove && told_done) {
                    const Tree tree = left.tree();
                    for (const auto& [path, bytes] : tree)
                        EXPECT_EQ(path.find("run-"), std::string::npos) << "told as removed: " << path;
                }
                expect_cleaned(left);
            });
    }
}

LoadSet load_set(std::uint64_t bytes) {
    const std::string root = load_root(kTarget);
    return {kTarget,
            {root, root + "/a"},
            {{root + "/a/f0.load", bytes}, {root + "/a/f1.load", bytes}, {root + "/a/e0.load", 0}}};
}

Result<void> write_set(ByteStore& store, const LoadSet& set) {
    const auto plan = plan_load_set(store, set);
    if (!plan) return plan.error();
    PrepareProgress progress;
    return write_load_set(store, *plan, 1, progress);
}

void expect_whole_set(MemoryDisk& disk, const LoadSet& set) {
    const Tree tree = disk.tree();
    for (const LoadFile& file : set.files) {
        const auto found = tree.find(file.path);
        if (found == tree.end()) continue;
        ASSERT_EQ(found->second.size(), file.bytes) << file.path;
        EXPECT_EQ(found->second.find(std::string(64, '\0')), std::string::npos) << file.path;
    }
}

TEST(KeptFailures, AWorkingSetIsCompletedAndThenRemoved) {
    const LoadSet set = load_set(5000);
    at_every_call(
        Trials{1, 2}, [] { return empty_disk(); }, [&](ByteStore& store) { return write_set(store, set); },
        [&](MemoryDisk& left, bool told_done) {
            expect_whole_set(left, set);
            const Tree tree = left.tree();
            for (const LoadFile& file : set.files) EXPECT_TRUE(!told_done || tree.contains(file.path));
            const auto again = write_set(left, set);
            ASSERT_TRUE(again) << all_problems(again.error());
            expect_whole_set(left, set);
            const auto plan = plan_load_set(left, set);
            EXPECT_TRUE(plan && plan->nothing_to_do());
            expect_cleaned(left);
        });
}

TEST(KeptFailures, AWorkingSetOfAnotherLengthReplacesIt) {
    const LoadSet before = load_set(5000), after = load_set(7000);
    at_every_call(
        Trials{2, 1},
        [&] {
            auto disk = empty_disk();
            EXPECT_TRUE(write_set(*disk, before));
            return disk;
        },
        [&](ByteStore& store) { return write_set(store, after); },
        [&](MemoryDisk& left, bool told_done) {
            if (told_done) expect_whole_set(left, after);
            const auto again = write_set(left, after);
            ASSERT_TRUE(again) << all_problems(again.error());
            expect_whole_set(left, after);
            expect_cleaned(left);
        });
}

MediaLockRequest lock_request(LockMode mode) {
    MediaLockRequest request;
    request.root = std::string(kTarget) + "/streamsim-media";
    request.mode = mode;
    request.owner = {.host = "edit3", .pid = 1, .command = "streamsim"};
    return request;
}

/// Holds the lock of a set as prepare does: alone, then with others, and releases it.
Result<void> hold_and_release(const std::shared_ptr<ByteStore>& store) {
    auto attempt = try_media_lock(store, lock_request(LockMode::exclusive));
    if (!attempt) return attempt.error();
    if (attempt->lock == nullptr) return environment_error(attempt->held_by);
    const auto changed = attempt->lock->change(LockMode::shared);
    const std::string root = lock_request(LockMode::shared).root;
    auto released = release_media_lock(*store, root, std::move(attempt->lock));
    return changed ? released : changed.error();
}

/// Whatever happens to its holder, the next one has the lock at the latest when the lease is too old.
TEST(KeptFailures, ALeaseIsReleasedOrGrowsOld) {
    for (const bool prepared : {false, true}) {
        at_every_call(
            Trials{1, 1},
            [&] {
                auto disk = empty_disk();
                if (prepared) EXPECT_TRUE(make_recordings(*disk, kTarget));
                return disk;
            },
            [&](ByteStore& store) {
                // The lock's thread may be the last to use the store.
                return hold_and_release(std::shared_ptr<ByteStore>(std::shared_ptr<void>(), &store));
            },
            [&](MemoryDisk& left, bool told_done) {
                // A lease that cannot be removed grows old; nothing else may stay where no error is told.
                for (const auto& [path, bytes] : left.tree())
                    EXPECT_TRUE(!told_done || prepared || bytes.empty() || foreign().contains(path) ||
                                path.ends_with(".lease"))
                        << path;
                left.pass(kLeaseAgeMaxSeconds + 1);
                const std::shared_ptr<ByteStore> store(std::shared_ptr<void>(), &left);
                const auto again = hold_and_release(store);
                EXPECT_TRUE(again) << all_problems(again.error());
                const Tree others = foreign();
                if (prepared) expect_cleaned(left);
                for (const auto& [path, bytes] : left.tree())
                    EXPECT_TRUE(others.contains(path)) << path << " was left behind";
            });
    }
}

/// Cleans as the command does: under the lock, if there is a set.
Result<void> clean_under_lock(ByteStore& at) {
    const std::shared_ptr<ByteStore> store(std::shared_ptr<void>(), &at);
    const MediaLockRequest request = lock_request(LockMode::exclusive);
    const auto there = media_set_is_there(at, request.root);
    if (!there) return there.error();
    if (!*there && !media_set_is_begun(at, request.root)) return {};
    auto attempt = try_media_lock(store, request);
    if (!attempt) return attempt.error();
    if (attempt->lock == nullptr) return environment_error(attempt->held_by);
    const auto cleaned = clean(at, kTarget);
    auto released = release_media_lock(at, request.root, std::move(attempt->lock));
    return cleaned ? released : cleaned.error();
}

/// A local file system has lock files, which clean removes last.
TEST(KeptFailures, ALockFileIsRemovedByTheNextClean) {
    at_every_call(
        Trials{3, 1},
        [] {
            auto disk = empty_disk();
            EXPECT_TRUE(record_and_remove(*disk, false));
            disk->put("/t/streamsim-media/streamsim-media.lock", "streamsim lock file\n");
            return disk;
        },
        clean_under_lock,
        [](MemoryDisk& left, bool) {
            left.pass(kLeaseAgeMaxSeconds + 1);
            EXPECT_TRUE(make_recordings(left, kTarget)) << "the set can be used again";
            const auto again = clean_under_lock(left);
            EXPECT_TRUE(again) << all_problems(again.error());
            EXPECT_EQ(left.tree(), foreign());
        });
}

}  // namespace
}  // namespace streamsim::media
