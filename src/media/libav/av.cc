#include "media/libav/av.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <new>

namespace streamsim::media {
namespace {

constexpr int kReadBufferBytes = 256 * 1024;
constexpr int kWriteBufferBytes = 1024 * 1024;  // the largest write request of most NFS servers
/// After a jump libav wants a header, and its buffer full of what follows would mostly be thrown away.
constexpr std::size_t kFirstReadBytes = 16 * 1024;
/// So much is read of a file of any size, and so many times its size, at most; each read counts as
/// kFirstReadBytes at least. Honest files are read little more than once; parts of damaged ones may point back
/// to each other without end.
constexpr std::uint64_t kReadBytesFree = std::uint64_t{64} << 20;
constexpr std::uint64_t kReadTimesMax = 64;
/// Limit of one allocation. A table of ten million frames fits, and so does a 16K frame; a damaged file that
/// claims a larger table gets no memory.
constexpr std::size_t kAllocationBytesMax = std::size_t{512} << 20;

/// The last line that libav logged in this thread at level error or worse.
std::string& last_line() {
    thread_local std::string line;
    return line;
}

void keep_line(void* /*about*/, int level, const char* format, va_list arguments) {
    if (level > AV_LOG_ERROR) return;
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    std::string line = text.data();
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) last_line() = line;
}

}  // namespace

void begin_av() {
    static std::once_flag once;
    std::call_once(once, [] {
        libav().av_log_set_callback(keep_line);
        libav().av_max_alloc(kAllocationBytesMax);
    });
    last_line().clear();
}

std::string av_text(int error) {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    libav().av_strerror(error, text.data(), text.size());
    const std::string& logged = last_line();
    return logged.empty() ? text.data() : fmt::format("{} ({})", text.data(), logged);
}

AvIo::~AvIo() {
    libav().av_freep(&context_->buffer);  // libav may have replaced the one that it was given
    libav().avio_context_free(&context_);
}

void AvIo::open(bool for_writing) {
    const int bytes = for_writing ? kWriteBufferBytes : kReadBufferBytes;
    auto* buffer = static_cast<unsigned char*>(libav().av_malloc(static_cast<std::size_t>(bytes)));
    if (buffer == nullptr) throw std::bad_alloc();
    const decltype(AVIOContext::write_packet) write_packet = &write;
    context_ =
        libav().avio_alloc_context(buffer, bytes, for_writing ? 1 : 0, this, for_writing ? nullptr : &read,
                                   for_writing ? write_packet : nullptr, &seek);
    if (context_ == nullptr) throw std::bad_alloc();
}

void AvIo::show_progress(std::uint64_t bytes_total) {
    if (progress_ == nullptr) return;
    progress_->bytes_done = 0;
    progress_->bytes_total = bytes_total;
    shown_ = true;
}

void AvIo::end_progress() {
    if (shown_) progress_->bytes_total = 0;
    shown_ = false;
}

int AvIo::failed(const Error& error, int code) {
    if (!error_) error_ = error;
    return code;
}

int AvIo::read(void* self, std::uint8_t* into, int bytes) {
    auto& stream = *static_cast<AvIo*>(self);
    if (stream.error_) return AVERROR(EIO);  // libav may ask on and on
    if (stream.progress_ != nullptr && stream.progress_->cancelled())
        return stream.failed(interrupted_error(), AVERROR_EXIT);
    if (const auto may = stream.may_read(); !may) return stream.failed(may.error(), AVERROR_INVALIDDATA);
    if (stream.position_ != stream.last_read_end_) stream.read_bytes_ = kFirstReadBytes;
    const std::size_t most = std::min(static_cast<std::size_t>(bytes), stream.read_bytes_);
    stream.read_bytes_ = std::min(stream.read_bytes_ * 4, std::size_t{1} << 30);
    const auto span = std::as_writable_bytes(std::span(into, most));
    auto got = stream.source_->read_at(stream.position_, span);
    if (!got) return stream.failed(got.error(), AVERROR(EIO));
    stream.bytes_read_ += std::max(*got, kFirstReadBytes);
    if (*got == 0) return AVERROR_EOF;
    stream.position_ += *got;
    stream.last_read_end_ = stream.position_;
    if (stream.shown_) stream.progress_->bytes_done = stream.position_;
    return static_cast<int>(*got);
}

Result<void> AvIo::may_read() {
    if (bytes_read_ < kReadBytesFree) return {};
    if (!bytes_read_most_) {
        const auto size = source_->size();
        if (!size) return size.error();
        bytes_read_most_ = kReadBytesFree + kReadTimesMax * std::min(*size, UINT64_MAX / (2 * kReadTimesMax));
    }
    if (bytes_read_ <= *bytes_read_most_) return {};
    return bad_input(fmt::format("{}: byte {}: its parts point back to each other, and reading it does not end",
                                 *path_, position_));
}

template <typename Byte>
int AvIo::write(void* self, Byte* from, int bytes) {
    auto& stream = *static_cast<AvIo*>(self);
    const auto span = std::as_bytes(std::span(from, static_cast<std::size_t>(bytes)));
    if (auto done = stream.sink_->write_at(stream.position_, span); !done)
        return stream.failed(done.error(), AVERROR(EIO));
    stream.position_ += span.size();
    stream.end_ = std::max(stream.end_, stream.position_);
    return bytes;
}

std::int64_t AvIo::seek(void* self, std::int64_t offset, int whence) {
    auto& stream = *static_cast<AvIo*>(self);
    std::uint64_t end = stream.end_;
    whence &= ~AVSEEK_FORCE;
    if (stream.source_ != nullptr && (whence == AVSEEK_SIZE || whence == SEEK_END)) {
        auto size = stream.source_->size();
        if (!size) return stream.failed(size.error(), AVERROR(EIO));
        end = *size;
    }
    const auto base = [&]() -> std::int64_t {
        if (whence == SEEK_CUR) return static_cast<std::int64_t>(stream.position_);
        if (whence == SEEK_END) return static_cast<std::int64_t>(end);
        return 0;
    }();
    if (whence == AVSEEK_SIZE) return static_cast<std::int64_t>(end);
    // A damaged file may send us anywhere; adding must not overflow on the way.
    if (offset > INT64_MAX - base || base + offset < 0) return AVERROR(EINVAL);
    stream.position_ = static_cast<std::uint64_t>(base + offset);
    return base + offset;
}

}  // namespace streamsim::media
