// OpenEXR: half R, G, B scan lines. Uncompressed frames have random pixels. Compressed ones are a flat picture
// by the OpenEXR library at the end of the file; what is between it and the offset table, which says where its
// chunks are, is random. The chunks stand together: OpenEXR seeks to the first and then reads on.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfCompression.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/payload.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kChunkHeader = 8;    // first line, bytes
constexpr std::size_t kCommentBytes = 13;  // size of an attribute with an empty text
constexpr std::size_t kOffsetBytes = 8;
constexpr std::size_t kPixelBytes = 6;

struct ExrFlavour {
    const char* name;
    Imf::Compression compression;
    std::uint64_t lines;  // a chunk
};
constexpr ExrFlavour kExrFlavours[] = {
    {"none", Imf::NO_COMPRESSION, 1},
    {"zip", Imf::ZIP_COMPRESSION, 16},
    {"piz", Imf::PIZ_COMPRESSION, 32},
    {"dwaa", Imf::DWAA_COMPRESSION, 32},
};

std::uint64_t exr_chunks(const MediaFormat& format, const ExrFlavour& flavour) {
    return (static_cast<std::uint64_t>(format.height) + flavour.lines - 1) / flavour.lines;
}

class MemoryFile final : public Imf::OStream {
public:
    MemoryFile() : Imf::OStream("template") {}
    void write(const char from[], int bytes) override {
        const std::size_t end = at_ + static_cast<std::size_t>(bytes);
        if (end > bytes_.size()) bytes_.resize(end);
        std::memcpy(bytes_.data() + at_, from, static_cast<std::size_t>(bytes));
        at_ = end;
    }
    std::uint64_t tellp() override { return at_; }
    void seekp(std::uint64_t position) override { at_ = position; }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
};

/// A picture in one grey. Errors: environment, with what the library says.
Result<std::vector<std::byte>> flat_file(const MediaFormat& format, const ExrFlavour& flavour) {
    try {
        Imf::Header header(format.width, format.height);
        header.compression() = flavour.compression;
        Imf::addFramesPerSecond(
            header, Imf::Rational(static_cast<int>(format.rate.num), static_cast<int>(format.rate.den)));
        const std::vector<Imath::half> line(static_cast<std::size_t>(format.width), Imath::half(0.18F));
        Imf::FrameBuffer pixels;
        for (const char* const channel : {"R", "G", "B"}) {
            header.channels().insert(channel, Imf::Channel(Imf::HALF));
            // The library takes it without const, and reads only; a line is used for all of them.
            auto* const data = const_cast<char*>(reinterpret_cast<const char*>(line.data()));
            pixels.insert(channel, Imf::Slice(Imf::HALF, data, sizeof(Imath::half), 0));
        }
        MemoryFile memory;
        {
            Imf::OutputFile file(memory, header, 0);
            file.setFrameBuffer(pixels);
            file.writePixels(format.height);
        }
        return memory.take();
    } catch (const std::exception& error) {
        return environment_error(fmt::format("{}: OpenEXR cannot write a picture of {}x{}: {}", format.name,
                                             format.width, format.height, error.what()));
    }
}

/// The end of the header: attributes (name, type, size, value) up to an empty name. Empty when `file` ends
/// first.
std::optional<std::size_t> end_of_header(std::span<const std::byte> file) {
    const auto end_of_text = [&](std::size_t at) {
        while (at < file.size() && file[at] != std::byte{0}) ++at;
        return at + 1;
    };
    std::size_t at = 8;  // magic number and version
    while (at < file.size() && file[at] != std::byte{0}) {
        at = end_of_text(end_of_text(at));
        if (at + 4 > file.size()) return std::nullopt;
        at += 4 + std::size_t{load<std::uint32_t>(file, at, false)};
    }
    if (at >= file.size()) return std::nullopt;
    return at + 1;
}

class ExrMaker final : public EqualFramesMaker {
public:
    ExrMaker(const MediaFormat& format,
             const ExrFlavour& flavour,
             std::vector<std::byte> file,
             std::size_t header)
        : EqualFramesMaker(format, {.min = file.size()}),
          random_(flavour.compression == Imf::NO_COMPRESSION),
          file_(std::move(file)),
          header_(header),
          chunks_(exr_chunks(format, flavour)) {}

    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= file_.size(), "an EXR frame has room for its picture");
        const std::span<const std::byte> file = file_;
        std::size_t gap = into.size() - file.size();
        std::size_t table = header_;
        std::copy_n(file.begin(), header_, into.begin());
        if (random_ && gap > kCommentBytes) {  // uncompressed files have no gaps: the header is longer
            table += gap;
            write_comment(into.subspan(header_ - 1, gap + 1));
            gap = 0;
        }
        const std::size_t begin = table + chunks_ * kOffsetBytes;
        fill_payload(into.subspan(begin, gap), at.key, {random_ ? 0 : ~std::uint32_t{0}});
        std::size_t to = begin + gap;
        for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
            const std::size_t from = load<std::uint64_t>(file, header_ + chunk * kOffsetBytes, false);
            const std::size_t bytes = load<std::uint32_t>(file, from + 4, false);
            store<std::uint64_t>(into, table + chunk * kOffsetBytes, false, to);
            std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(from),
                        random_ ? kChunkHeader : kChunkHeader + bytes,
                        into.begin() + static_cast<std::ptrdiff_t>(to));
            if (random_)
                fill_halves(into.subspan(to + kChunkHeader, bytes), at.key, chunk * ((bytes + 7) / 8 * 8));
            to += kChunkHeader + bytes;
        }
    }
    std::vector<std::byte> beginning(std::uint64_t /*bytes*/, const FrameToMake& /*at*/) const override {
        return {file_.begin(),
                file_.begin() + static_cast<std::ptrdiff_t>(header_) - 1};  // or a comment follows
    }

private:
    /// An attribute of one letter, as long as it has to be, and the end of the header.
    static void write_comment(std::span<std::byte> into) {
        constexpr std::string_view kName("c\0string\0", 9);
        std::fill(into.begin(), into.end(), std::byte{0});
        std::transform(kName.begin(), kName.end(), into.begin(),
                       [](char c) { return static_cast<std::byte>(c); });
        const std::size_t value = into.size() - kCommentBytes - 1;
        store<std::uint32_t>(into, kName.size(), false, static_cast<std::uint32_t>(value));
        std::fill_n(into.begin() + kCommentBytes, value, std::byte{' '});
    }

    bool random_;
    std::vector<std::byte> file_;
    std::size_t header_;
    std::uint64_t chunks_;
};

std::optional<Unmakable> why_no_exr(const MediaFormat& format) {
    if (flavour_named(kExrFlavours, format.profile) != nullptr) return std::nullopt;
    return Unmakable{
        "/profile",
        fmt::format("prepare makes EXR with the compression none, zip, piz or dwaa, not {}", format.profile)};
}

MadeMaker make_exr_maker(const MediaFormat& format, std::uint64_t /*frames*/) {
    const ExrFlavour* const found = flavour_named(kExrFlavours, format.profile);
    STREAMSIM_CHECK(found != nullptr, "unmakable formats do not come here");
    const ExrFlavour& flavour = *found;
    auto file = flat_file(format, flavour);
    if (!file) return file.error();
    const auto header = end_of_header(*file);
    if (!header || *header + exr_chunks(format, flavour) * kOffsetBytes > file->size())
        return environment_error(fmt::format("{}: OpenEXR wrote a file without lines", format.name));
    return std::unique_ptr<FrameMaker>(std::make_unique<ExrMaker>(format, flavour, std::move(*file), *header));
}

std::uint64_t exr_bytes_min(const MediaFormat& format) {
    constexpr std::uint64_t kHeader = 600;
    const ExrFlavour* const flavour = flavour_named(kExrFlavours, format.profile);
    if (flavour == nullptr) return 0;
    const std::uint64_t chunks = exr_chunks(format, *flavour);
    const auto width = static_cast<std::uint64_t>(format.width);
    // A flat chunk: codes for runs, less than a byte a pixel of its first line, and tables; measured.
    const std::uint64_t bytes = flavour->compression == Imf::NO_COMPRESSION ? width * kPixelBytes : 512 + width;
    return kHeader + chunks * (kOffsetBytes + kChunkHeader + bytes);
}

}  // namespace

const Codec kExr{"exr", make_exr_maker, exr_bytes_min, why_no_exr};

bool exr_is_built_in() {
    return true;
}

}  // namespace streamsim::media
