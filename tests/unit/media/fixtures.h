// Fixtures of the media tests: a directory on disk, a ByteStore on it that can be made to fail, small formats,
// and external tools.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "media/catalogue/catalogue.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::testing {

/// A directory that is gone at the end of the test.
class Place {
public:
    Place();
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    const std::string& path() const { return path_; }
    std::string at(const std::string& name) const { return path_ + "/" + name; }
    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;
    /// Paths of all files below, without the place's own, sorted.
    std::vector<std::string> files() const;

private:
    std::string path_;
};

/// A ByteStore over std::filesystem.
class DirectoryStore final : public ByteStore {
public:
    std::uint64_t free = UINT64_MAX / 2;
    /// Bytes that can be written before the disk is full.
    std::uint64_t room = UINT64_MAX;
    /// Called before each write, in the writer's thread.
    std::function<void(const std::string& path)> on_write;
    /// Called before each rename; false: the process is "killed" there and everything after it fails.
    std::function<bool(const std::string& to)> on_rename;
    /// Called before each open; an error instead of the file.
    std::function<std::optional<Error>(const std::string& path)> on_open;
    /// Called after each file was created; an error instead of the sink, and the file stays.
    std::function<std::optional<Error>(const std::string& path)> on_create;
    /// Called before each removal; an error instead of it.
    std::function<std::optional<Error>(const std::string& path)> on_remove;
    /// Called for each eviction, which does nothing; its error.
    std::function<std::optional<Error>(const std::string& path)> on_evict;
    std::atomic<std::uint64_t> bytes_read = 0;
    std::atomic<std::uint64_t> stats = 0;
    /// Files have the times that they have; else all have one.
    bool tells_times = false;
    /// False: as file systems without inodes.
    bool tells_ids = true;
    /// True: as the local file systems of one process, which gets each lock; the mode of the last one.
    bool has_locks = false;
    LockMode locked = LockMode::shared;

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<LockAttempt> try_lock(const std::string& path, LockMode mode, const std::string& note) override;
    Result<void> evict(const std::string& path) override;
};

std::string source_file(const std::string& name);
media::Catalogue shipped_formats();
/// The only format of a document.
Result<MediaFormat> read_format(const std::string& text, const std::string& source);
/// "dpx12" with another name, raster and rate.
MediaFormat small_dpx(const std::string& name, int width, int height, int bits = 12, FrameRate rate = {24, 1});
/// "prores-hd" with another name, raster and mean, 30 fps.
MediaFormat small_prores(const std::string& name, int width, int height, std::uint64_t mean_bytes);

/// A ProRes clip in QuickTime as prepare writes it.
void write_mov(DirectoryStore& store, const std::string& path, const MediaFormat& format, std::uint64_t frames);

/// A small ProRes clip by ffmpeg. `timecode`: of its first frame, counted at its rate; the label of the clip is
/// the one with that number where its time code counts one of `each` frames.
void write_timecoded_mov(const Place& place,
                         const std::string& name,
                         const std::string& rate,
                         int frames,
                         const std::string& timecode,
                         unsigned each = 1);

/// The frames of a sequence as prepare names them, in `directory`, numbers [first, first + count).
void write_sequence(const Place& place,
                    const std::string& prefix,
                    const std::string& suffix,
                    const std::vector<std::string>& numbers,
                    const MediaFormat& format);

std::string path_of(const FrameIndex& index, std::uint64_t frame);
std::string all_problems(const Error& error);

bool have_tool(const std::string& name);
struct Ran {
    int code = 0;
    std::string output;  // standard output, then standard error
};
Ran run(const std::string& command);

}  // namespace streamsim::testing

/// Skips a test that needs a tool which is not here, and says so.
#define NEED_TOOL(name) \
    if (!::streamsim::testing::have_tool(name)) GTEST_SKIP() << name << " is not installed"
