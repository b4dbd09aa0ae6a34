// Writing media. A clip has one writer that goes from its first byte to its last, so that no clip is laid out
// interleaved with another; up to four clips are written at once, because one stream does not fill a storage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "base/prng.h"
#include "media/catalogue.h"
#include "media/dpx.h"
#include "media/frame_sizes.h"
#include "media/media_set.h"
#include "media/media_set_names.h"
#include "media/payload.h"
#include "media/prores.h"
#include "media/sequence_index.h"

namespace streamsim {
namespace {

constexpr std::size_t kWritersMax = 4;
constexpr std::size_t kPieceBytes = 8u << 20;  // of one write; also how soon a cancel is seen
constexpr std::size_t kAlignment = 4096;       // what direct I/O may ask of memory
constexpr std::size_t kProbeBytes = 4096;      // of a kept frame's end that is compared

/// Page-aligned memory for one writer.
class Buffer {
public:
    explicit Buffer(std::size_t bytes)
        : bytes_(bytes), data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}))) {}
    std::span<std::byte> first(std::size_t bytes) { return std::span(data_.get(), bytes_).first(bytes); }

private:
    struct Free {
        void operator()(std::byte* data) const { ::operator delete (data, std::align_val_t{kAlignment}); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> data_;
};

/// A number for "this format at this length": a part of every payload key.
std::uint64_t format_key(const PreparePlan& plan) {
    std::uint64_t key = plan.frames;
    for (const char c : format_identity(plan.request.format).dump())
        key = mix64(key ^ static_cast<unsigned char>(c));
    return key;
}

/// What the writers of one prepare share.
struct Work {
    ByteStore& store;
    const PreparePlan& plan;
    PrepareProgress& progress;
    std::uint64_t set_id = 0;
    std::uint64_t format = 0;  // format_key
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};  // another writer has failed
    std::mutex mutex;
    std::optional<Error> error;  // the first; under mutex

    bool stopped() const { return stop.load() || progress.cancel.load(); }
    std::uint64_t key_of(const PlannedClip& clip, std::uint64_t frame) const {
        return payload_key(set_id, format, clip.number, frame);
    }
};

/// Writes one sequence into its partial directory.
class SequenceWriter {
public:
    SequenceWriter(Work& work, const PlannedClip& clip)
        : work_(work),
          clip_(clip),
          format_(work.plan.request.format),
          directory_(clip.path + std::string(kPartial)),
          frame_bytes_(static_cast<std::uint64_t>(format_.mean_frame_bytes)),
          header_(format_.dpx.image_offset),
          buffer_(kPieceBytes) {}

    Result<void> write() {
        if (auto made = work_.store.make_directories(directory_); !made) return made.error();
        for (std::uint64_t frame = 0; frame < work_.plan.frames; ++frame) {
            if (work_.stopped()) return interrupted_error();
            const std::uint64_t number = kFirstFrameNumber + frame;
            const std::string name = prepared_pattern().name(number);
            const std::string path = join_path(directory_, name);
            write_dpx_header(header_, format_, name, number, kFirstFrameNumber);
            key_ = work_.key_of(clip_, frame);
            if (clip_.frames_there[frame]) {
                if (is_whole(path)) continue;
                work_.progress.bytes_total += frame_bytes_;
            }
            if (auto done = write_frame(path); !done) return done.error();
        }
        return {};
    }

private:
    /// Whether a frame of the right length is ours: its header and its end, the last bytes that were written.
    bool is_whole(const std::string& path) {
        auto file = work_.store.open(path);
        if (!file) return false;
        const std::uint64_t image = frame_bytes_ - header_.size();
        const std::uint64_t probe_at = image <= kProbeBytes ? 0 : (image - kProbeBytes) / 8 * 8;
        std::vector<std::byte> wanted(image - probe_at);
        fill_image(wanted, probe_at);
        return holds(**file, 0, header_) && holds(**file, header_.size() + probe_at, wanted);
    }
    static bool holds(ByteSource& file, std::uint64_t offset, std::span<const std::byte> wanted) {
        std::vector<std::byte> bytes(wanted.size());
        const auto got = file.read_at(offset, bytes);
        return got && *got == bytes.size() && std::equal(bytes.begin(), bytes.end(), wanted.begin());
    }

    void fill_image(std::span<std::byte> into, std::uint64_t position) const {
        fill_payload(into, key_, dpx_payload_mask(format_.dpx), position);
        zero_dpx_line_ends(into, position, format_);
    }

    Result<void> write_frame(const std::string& path) {
        auto file = work_.store.create(path);
        if (!file) return file.error();
        for (std::uint64_t at = 0; at < frame_bytes_; at += kPieceBytes) {
            if (work_.stopped()) return interrupted_error();
            const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, frame_bytes_ - at);
            const auto piece = buffer_.first(bytes);
            if (at == 0) {  // a header is shorter than a piece
                std::copy(header_.begin(), header_.end(), piece.begin());
                fill_image(piece.subspan(header_.size()), 0);
            } else {
                fill_image(piece, at - header_.size());
            }
            if (auto done = (*file)->write_at(at, piece); !done) return done.error();
            work_.progress.bytes_done += bytes;
        }
        return (*file)->close();
    }

    Work& work_;
    const PlannedClip& clip_;
    const MediaFormat& format_;
    std::string directory_;
    std::uint64_t frame_bytes_;
    std::vector<std::byte> header_;
    std::uint64_t key_ = 0;
    Buffer buffer_;
};

/// Writes one container into its partial file, from its beginning: what an interrupted prepare left has no
/// header.
Result<void> write_container(Work& work, const PlannedClip& clip) {
    const MediaFormat& format = work.plan.request.format;
    const std::string path = clip.path + std::string(kPartial);
    const auto sizes = plan_frame_bytes(format, work.plan.frames, work.plan.request.seed, clip.number);
    Buffer buffer(*std::max_element(sizes.begin(), sizes.end()));
    auto file = work.store.create(path);
    if (!file) return file.error();
    auto writer = QuickTimeWriter::create(**file, format, path);
    if (!writer) return writer.error();
    for (std::uint64_t frame = 0; frame < sizes.size(); ++frame) {
        if (work.stopped()) return interrupted_error();
        const auto bytes = buffer.first(sizes[frame]);
        build_prores_frame(bytes, format, work.key_of(clip, frame));
        if (auto added = (*writer)->add(bytes); !added) return added.error();
        work.progress.bytes_done += sizes[frame];
    }
    if (auto finished = (*writer)->finish(); !finished) return finished.error();
    return (*file)->close();
}

Result<void> write_clip(Work& work, const PlannedClip& clip) {
    const bool sequence = work.plan.request.format.container == MediaFormat::Container::sequence;
    const auto written = sequence ? SequenceWriter(work, clip).write() : write_container(work, clip);
    if (!written) return written.error();
    if (auto renamed = work.store.rename(clip.path + std::string(kPartial), clip.path); !renamed) {
        return renamed.error();
    }
    ++work.progress.clips_done;
    return {};
}

void write_clips(Work& work) {
    while (!work.stopped()) {
        const std::size_t next = work.next.fetch_add(1);
        if (next >= work.plan.missing.size()) return;
        const auto written = write_clip(work, work.plan.missing[next]);
        if (written) continue;
        const std::lock_guard lock(work.mutex);
        if (!work.error) work.error = written.error();
        work.stop = true;
    }
}

}  // namespace

Result<void> prepare(ByteStore& store, const PreparePlan& plan, PrepareProgress& progress) {
    progress.bytes_total = plan.bytes_to_write;
    if (plan.nothing_to_do()) return {};
    const std::string root = media_root(plan.request.target);
    const auto id = ensure_marker(store, root);
    if (!id) return id.error();
    const auto directory = find_format(store, root, plan.request.format);
    if (!directory) return directory.error();
    if (directory->path != plan.directory) {
        return environment_error(fmt::format("{}: somebody else prepares media there now; try again", root));
    }
    if (!directory->there) {
        if (auto made = write_format(store, plan.directory, plan.request.format); !made) return made.error();
    }
    const std::string length = join_path(plan.directory, length_name(plan.frames));
    if (auto made = store.make_directories(length); !made) return made.error();

    Work work{.store = store, .plan = plan, .progress = progress, .set_id = *id, .format = format_key(plan)};
    std::vector<std::thread> writers;
    const std::size_t count = std::min(plan.missing.size(), kWritersMax);
    for (std::size_t i = 0; i < count; ++i) writers.emplace_back([&work] { write_clips(work); });
    for (std::thread& writer : writers) writer.join();
    if (work.error) return *work.error;
    if (progress.clips_done < plan.missing.size()) return interrupted_error();
    return {};
}

}  // namespace streamsim
