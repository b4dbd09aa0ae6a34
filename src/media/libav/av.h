// libavformat, kept in its place: its callbacks reach our sources and sinks, its log becomes the text of our
// errors. Inside media/ only.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "media/libav/libav.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Takes libav's log away from standard error and keeps it from allocating more at once than honest files need,
/// for the whole process, once; and forgets what this thread has collected.
void begin_av();

/// "Invalid data found when processing input (moov atom not found)": libav's error with the last line that it
/// logged in this thread.
std::string av_text(int error);

/// An AVIOContext over a ByteSource or a ByteSink, with the first error of that side kept. Not movable: libav
/// holds its address.
class AvIo {
public:
    /// `path` is for messages. Outlives it. A file whose parts make libav read it many times over is bad input.
    AvIo(ByteSource& source, const std::string& path) : source_(&source), path_(&path) { open(false); }
    explicit AvIo(ByteSink& sink) : sink_(&sink) { open(true); }
    ~AvIo();
    AvIo(const AvIo&) = delete;
    AvIo& operator=(const AvIo&) = delete;

    AVIOContext* context() { return context_; }
    const std::optional<Error>& error() const { return error_; }
    /// The end of the last read, in bytes.
    std::uint64_t last_read_end() const { return last_read_end_; }
    /// From here on reads are shown in `progress`; before, they only obey its `cancel`.
    void obey(IndexProgress* progress) { progress_ = progress; }
    void show_progress(std::uint64_t bytes_total);
    void end_progress();

private:
    static int read(void* self, std::uint8_t* into, int bytes);
    template <typename Byte>  // constant from FFmpeg 7 on
    static int write(void* self, Byte* from, int bytes);
    static std::int64_t seek(void* self, std::int64_t offset, int whence);
    void open(bool for_writing);
    /// Keeps the first error. Returns the code.
    int failed(const Error& error, int code);

    Result<void> may_read();

    ByteSource* source_ = nullptr;
    const std::string* path_ = nullptr;
    ByteSink* sink_ = nullptr;
    AVIOContext* context_ = nullptr;
    std::uint64_t position_ = 0;
    std::uint64_t end_ = 0;  // end of the written bytes
    std::uint64_t last_read_end_ = 0;
    std::uint64_t bytes_read_ = 0;                  // in all, with those that short reads cost
    std::optional<std::uint64_t> bytes_read_most_;  // known once much has been read
    std::size_t read_bytes_ = 16 * 1024;  // at most, of the next read; grows while reading goes straight on
    IndexProgress* progress_ = nullptr;
    bool shown_ = false;
    std::optional<Error> error_;
};

}  // namespace streamsim::media
