// Writing media. A clip has one writer that goes from its first byte to its last, so that no clip is laid out
// interleaved with another; up to four clips are written at once, because one stream does not fill a storage.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/prng.h"
#include "base/system/mutex.h"
#include "base/system/thread_group.h"
#include "media/catalogue/catalogue.h"
#include "media/catalogue/frame_sizes.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_index.h"
#include "media/write/clip_proof.h"
#include "media/write/clip_record.h"
#include "media/write/container_writer.h"
#include "media/write/frames_ahead.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kWritersMax = 4;
constexpr std::size_t kPieceBytes = 8u << 20;  // size of one write, and so the delay until a cancel is noticed
constexpr std::size_t kBuffersMax = 1u << 30;  // bytes, of all writers; one may have more

struct Work {
    ByteStore& store;       // confined to the directory of this length
    std::string directory;  // its path
    const PreparePlan& plan;
    PrepareProgress& progress;
    const FrameMaker& maker;
    std::uint64_t set_id = 0;
    std::uint64_t format = 0;  // format_key
    std::uint64_t run = 0;     // part of the names of unfinished files
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};  // another writer has failed
    Mutex mutex;
    std::optional<Error> error GUARDED_BY(mutex);  // the first

    ClipKey documents_of(const PlannedClip& clip) const { return {directory, set_id, clip.number}; }
    bool stopped() const { return stop.load() || progress.cancel.load(); }
    std::uint64_t key_of(const PlannedClip& clip, std::uint64_t frame) const {
        return payload_key(set_id, format, clip.number, frame);
    }
    std::vector<std::uint32_t> sizes_of(const PlannedClip& clip) const {
        return plan_frame_bytes(plan.request.format, plan.frames, plan.request.seed, clip.number);
    }
};

/// Records the clip as ours before its first frame. `path`: the clip under its partial name in `store`.
Result<void> record(Work& work, const PlannedClip& clip, ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    return write_record(work.store, work.documents_of(clip),
                        {.frames = work.plan.frames,
                         .kind = record_kind(work.plan.request.format),
                         .file_id = *info ? (*info)->file_id : 0});
}

/// Renames the existing part of a clip to `path`, and returns its FileInfo::file_id. Checks again that the part
/// is ours, because others may have replaced it since the plan was made.
Result<std::uint64_t> take_over(Work& work, const PlannedClip& clip, const std::string& path) {
    const auto exchanged = [&clip] {
        return environment_error(fmt::format(
            "{}: found other files than prepare has begun there: they are left alone; try again", clip.from));
    };
    const auto name = clip_name_in(base_name(clip.from));
    const auto before = work.store.stat(clip.from);
    if (!before) return before.error();
    if (!name || !*before) return exchanged();
    const StoredClip begun{work.plan.frames, *name, clip.from};
    const auto ours = is_ours(work.store, begun, {&work.plan.request.format, work.set_id, true});
    if (!ours) return ours.error();
    if (!*ours) return exchanged();
    if (auto renamed = work.store.rename(clip.from, path); !renamed) return renamed.error();
    const auto now = work.store.stat(path);
    if (!now) return now.error();
    // Checked under this name too, which nobody else knows: the file may have been replaced twice.
    const auto record = read_record(work.store, work.documents_of(clip));
    bool same = *now && record && (!*record || is_recorded(**record, **now)) &&
                may_be_same_file((*now)->file_id, (*before)->file_id);
    if (same && name->is_file() && !name->partial) {
        const auto sums = read_sums(work.store, work.documents_of(clip));
        same = sums.has_value();
        if (same && *sums) {
            const auto begins = begins_as_recorded(work.store, path, **sums);
            same = begins && *begins;
        }
    }
    if (same) return (*now)->file_id;
    if (auto back = work.store.rename(path, clip.from); !back) return back.error();
    return exchanged();
}

class SequenceWriter {
public:
    SequenceWriter(Work& work, const PlannedClip& clip)
        : work_(work),
          clip_(clip),
          directory_(clip.path + partial_suffix(work.run)),
          pattern_(prepared_pattern(frame_extension(work.plan.request.format))),
          frames_(work.sizes_of(clip), [this](std::span<std::byte> into, std::uint64_t frame) {
              const std::uint64_t number = kFirstFrameNumber + frame;
              work_.maker.make(into, {frame, number, work_.key_of(clip_, frame), pattern_.name(number)});
          }) {}

    Result<void> write() {
        if (auto entered = enter(); !entered) return entered;
        if (auto recorded = record(work_, clip_, *store_, directory_); !recorded) return recorded.error();
        const auto path_of = [this](std::uint64_t frame) {
            return join_path(directory_, pattern_.name(kFirstFrameNumber + frame));
        };
        for (std::uint64_t frame = 0; frame < frames_.count(); ++frame) {
            if (work_.stopped()) return interrupted_error();
            const std::string path = path_of(frame);
            const auto bytes = frames_.next();
            if (clip_.frames_there[frame]) {
                if (is_whole(path, bytes)) continue;
                if (work_.stopped()) return interrupted_error();
                work_.progress.bytes_total += bytes.size();
            }
            if (auto done = write_frame(path, kFirstFrameNumber + frame, bytes); !done) return done.error();
        }
        auto sums = sums_of_frames(*store_, path_of(0), path_of(frames_.count() - 1));
        return sums ? write_sums(work_.store, work_.documents_of(clip_), *sums) : sums.error();
    }

private:
    Result<void> enter() {
        const bool begun = !clip_.from.empty();
        std::uint64_t file_id = 0;
        if (begun) {
            const auto taken = take_over(work_, clip_, directory_);
            if (!taken) return taken.error();
            file_id = *taken;
        } else if (auto made = work_.store.make_directories(directory_); !made) {
            return made;
        }
        auto store = work_.store.beneath(directory_);
        if (!store) return store.error();
        store_ = std::move(*store);
        const auto info = store_->stat(directory_);
        if (!info) return info.error();
        if (!begun || (*info && may_be_same_file((*info)->file_id, file_id))) return {};
        return environment_error(
            fmt::format("{}: another directory has replaced it: it is left alone; try again", directory_));
    }

    /// True when an existing frame of the right length has all bytes that it must have: after a power failure
    /// its ends may be on stable storage without what is between them, and not every file system reports that
    /// as a hole. False after a stop, because the comparison may not have reached the end.
    bool is_whole(const std::string& path, std::span<const std::byte> wanted) {
        auto file = store_->open(path);
        if (!file) return false;
        read_.resize(std::min(kPieceBytes, wanted.size()));
        for (std::size_t at = 0; at < wanted.size() && !work_.stopped(); at += kPieceBytes) {
            const auto piece = wanted.subspan(at, std::min(kPieceBytes, wanted.size() - at));
            const auto read = std::span(read_).first(piece.size());
            const auto got = (*file)->read_at(at, read);
            if (!got || *got < piece.size() || !std::equal(read.begin(), read.end(), piece.begin()))
                return false;
        }
        if (work_.stopped()) return false;
        (void)store_->evict(path);  // may fail where there is no page cache, without harm
        return true;
    }

    Result<void> write_frame(const std::string& path, std::uint64_t number, std::span<const std::byte> frame) {
        const Error foreign =
            environment_error(fmt::format("{}: is not a frame that prepare made: it is left alone", path));
        // An existing file has another length, or other bytes than planned.
        const auto is_ours = [&](const std::string& at) {
            return begins_as_made(*store_, at, &work_.maker, number, pattern_.name(number));
        };
        if (auto free = make_way(*store_, path, foreign, is_ours); !free) return free;
        auto file = store_->create(path);
        if (!file) return file.error();
        for (std::size_t at = 0; at < frame.size(); at += kPieceBytes) {
            if (work_.stopped()) return interrupted_error();
            const auto piece = frame.subspan(at, std::min(kPieceBytes, frame.size() - at));
            if (auto done = (*file)->write_at(at, piece); !done) return done.error();
            work_.progress.bytes_done += piece.size();
        }
        return (*file)->close();
    }

    Work& work_;
    const PlannedClip& clip_;
    std::string directory_;
    std::unique_ptr<ByteStore> store_;  // confined to this directory
    FramePattern pattern_;
    std::vector<std::byte> read_;  // of a frame that is there
    FramesAhead frames_;           // last: its thread uses the others
};

/// Writes one container into its partial file from the beginning, because the file of an interrupted prepare
/// has no header.
Result<void> write_container(Work& work, const PlannedClip& clip) {
    const std::string path = clip.path + partial_suffix(work.run);
    if (!clip.from.empty()) {
        if (auto taken = take_over(work, clip, path); !taken) return taken.error();
        if (auto removed = work.store.remove(path); !removed) return removed;
    }
    auto file = work.store.create(path);
    if (!file) return file.error();
    if (auto recorded = record(work, clip, work.store, path); !recorded) return recorded.error();
    auto writer = ContainerWriter::create(**file, work.plan.request.format, work.maker, path);
    if (!writer) return writer.error();
    FramesAhead frames(work.sizes_of(clip), [&](std::span<std::byte> into, std::uint64_t frame) {
        work.maker.make(into, {frame, kFirstFrameNumber + frame, work.key_of(clip, frame), {}});
    });
    for (std::uint64_t frame = 0; frame < frames.count(); ++frame) {
        if (work.stopped()) return interrupted_error();
        const auto bytes = frames.next();
        if (auto added = (*writer)->add(bytes); !added) return added.error();
        work.progress.bytes_done += bytes.size();
    }
    if (auto finished = (*writer)->finish(); !finished) return finished.error();
    if (auto closed = (*file)->close(); !closed) return closed.error();
    auto sums = sums_of_container(work.store, path);
    return sums ? write_sums(work.store, work.documents_of(clip), *sums) : sums.error();
}

/// Checks before anything is written that every planned frame can be made with its planned size. Returns the
/// largest size in bytes.
Result<std::uint64_t> check_sizes(const PreparePlan& plan, const FrameMaker& maker) {
    std::uint64_t largest = 0;
    for (const PlannedClip& clip : plan.missing) {
        const auto sizes = plan_frame_bytes(plan.request.format, plan.frames, plan.request.seed, clip.number);
        for (std::uint64_t frame = 0; frame < sizes.size(); ++frame) {
            const FrameLimits limits = maker.limits(frame);
            largest = std::max<std::uint64_t>(largest, sizes[frame]);
            if (sizes[frame] >= limits.min && sizes[frame] <= limits.max) continue;
            return bad_input(fmt::format("{}: frame {} is to have {} bytes, and a {} frame of {}x{} has {} {}",
                                         plan.request.format.name, frame, sizes[frame],
                                         plan.request.format.codec, plan.request.format.width,
                                         plan.request.format.height,
                                         limits.min == limits.max    ? "exactly"
                                         : sizes[frame] < limits.min ? "at least"
                                                                     : "at most",
                                         sizes[frame] < limits.min ? limits.min : limits.max));
        }
    }
    return largest;
}

Result<void> write_clip(Work& work, const PlannedClip& clip) {
    const bool sequence = work.plan.request.format.container == MediaFormat::Container::sequence;
    const auto written = sequence ? SequenceWriter(work, clip).write() : write_container(work, clip);
    if (!written) return written.error();
    if (auto renamed = work.store.rename(clip.path + partial_suffix(work.run), clip.path); !renamed) {
        return renamed.error();
    }
    ++work.progress.clips_done;
    return {};
}

/// The directory of this length, created if missing. Each directory is held open from its check on, so that
/// nothing is written into a directory that replaces it meanwhile.
Result<std::unique_ptr<ByteStore>> enter_length(ByteStore& store,
                                                const PreparePlan& plan,
                                                const std::string& length) {
    const std::string root = media_root(plan.request.target);
    const auto set = store.beneath(root);
    if (!set) return set.error();
    const auto directory = find_format(**set, root, plan.request.format);
    if (!directory) return directory.error();
    if (directory->path != plan.directory)
        return environment_error(fmt::format("{}: another process prepares media there now; try again", root));
    if (!directory->there) {
        // The document is in the directory before the directory gets its name, because an empty directory of
        // that name is not ours.
        const std::string partial = plan.directory + partial_suffix(entropy64());
        if (auto made = (*set)->make_directories(partial); !made) return made.error();
        if (auto made = write_format(**set, partial, plan.request.format); !made) return made.error();
        if (auto named = (*set)->rename(partial, plan.directory); !named) return named.error();
    }
    auto format = (*set)->beneath(plan.directory);
    if (!format) return format.error();
    const auto identity = read_identity(**format, plan.directory);
    if (!identity) return identity.error();
    if (*identity != format_identity(plan.request.format)) {
        return environment_error(
            fmt::format("{}: another directory has replaced it: it is left alone; try again", plan.directory));
    }
    if (auto made = (*format)->make_directories(length); !made) return made.error();
    return (*format)->beneath(length);
}

void write_clips(Work& work) {
    while (!work.stopped()) {
        const std::size_t next = work.next.fetch_add(1);
        if (next >= work.plan.missing.size()) return;
        const auto written = write_clip(work, work.plan.missing[next]);
        if (written) continue;
        const MutexLock lock(work.mutex);
        if (!work.error) work.error = written.error();
        work.stop = true;
    }
}

}  // namespace

Result<void> prepare(ByteStore& whole_store, const PreparePlan& plan, PrepareProgress& progress) {
    progress.bytes_total = plan.bytes_to_write;
    if (plan.nothing_to_do()) return {};
    const auto confined = whole_store.beneath(plan.request.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto maker = make_frame_maker(plan.request.format, plan.frames);
    if (!maker) return maker.error();
    const auto largest = check_sizes(plan, **maker);
    if (!largest) return largest.error();
    const auto id = ensure_marker(store, media_root(plan.request.target));
    if (!id) return id.error();
    const std::string length = join_path(plan.directory, length_name(plan.frames));
    const auto inside = enter_length(store, plan, length);
    if (!inside) return inside.error();

    Work work{.store = **inside,
              .directory = length,
              .plan = plan,
              .progress = progress,
              .maker = **maker,
              .set_id = *id,
              .format = format_key(plan.request.format, plan.frames),
              .run = entropy64()};
    ThreadGroup writers;
    const std::size_t fit =
        std::clamp<std::size_t>(kBuffersMax / (FramesAhead::kBuffers * *largest), 1, kWritersMax);
    const std::size_t count = std::min(plan.missing.size(), fit);
    while (writers.size() < count && writers.add([&work] { write_clips(work); })) {
    }
    if (writers.size() == 0) write_clips(work);  // no thread was available: this thread writes
    writers.join();
    const MutexLock lock(work.mutex);
    if (work.error) return *work.error;
    if (progress.clips_done < plan.missing.size()) return interrupted_error();
    return {};
}

}  // namespace streamsim::media
