#include "media/av.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "base/check.h"

namespace streamsim {
namespace {

constexpr int kBufferBytes = 256 * 1024;

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
    std::call_once(once, [] { av_log_set_callback(keep_line); });
    last_line().clear();
}

std::string av_text(int error) {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    av_strerror(error, text.data(), text.size());
    const std::string& logged = last_line();
    return logged.empty() ? text.data() : fmt::format("{} ({})", text.data(), logged);
}

AvIo::AvIo(ByteSource& source) : source_(&source) {
    open(false);
}

AvIo::AvIo(ByteSink& sink) : sink_(&sink) {
    open(true);
}

AvIo::~AvIo() {
    av_freep(&context_->buffer);  // libav may have replaced the one that it was given
    avio_context_free(&context_);
}

void AvIo::open(bool for_writing) {
    auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
    STREAMSIM_CHECK(buffer != nullptr, "out of memory");
    context_ = avio_alloc_context(buffer, kBufferBytes, for_writing ? 1 : 0, this,
                                  for_writing ? nullptr : &read, for_writing ? &write : nullptr, &seek);
    STREAMSIM_CHECK(context_ != nullptr, "out of memory");
}

int AvIo::read(void* self, std::uint8_t* into, int bytes) {
    auto& stream = *static_cast<AvIo*>(self);
    const auto span = std::as_writable_bytes(std::span(into, static_cast<std::size_t>(bytes)));
    auto got = stream.source_->read_at(stream.position_, span);
    if (!got) {
        if (!stream.error_) stream.error_ = got.error();
        return AVERROR(EIO);
    }
    if (*got == 0) return AVERROR_EOF;
    stream.position_ += *got;
    stream.last_read_end_ = stream.position_;
    return static_cast<int>(*got);
}

int AvIo::write(void* self, std::uint8_t* from, int bytes) {
    auto& stream = *static_cast<AvIo*>(self);
    const auto span = std::as_bytes(std::span(from, static_cast<std::size_t>(bytes)));
    if (auto done = stream.sink_->write_at(stream.position_, span); !done) {
        if (!stream.error_) stream.error_ = done.error();
        return AVERROR(EIO);
    }
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
        if (!size) {
            if (!stream.error_) stream.error_ = size.error();
            return AVERROR(EIO);
        }
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

}  // namespace streamsim
