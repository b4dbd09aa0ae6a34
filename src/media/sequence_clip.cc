#include "media/sequence_clip.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace streamsim {
namespace {

/// A gap costs a slot for each number in it. So many numbers are never too many; beyond them, one frame in a
/// thousand has to be there.
constexpr std::uint64_t kSpanAlways = 1'000'000;
constexpr std::uint64_t kSpanPerFrame = 1000;

Result<DpxHeader> read_header(ByteStore& store, const std::string& path) {
    auto file = store.open(path);
    if (!file) return file.error();
    std::array<std::byte, kDpxHeaderBytes> bytes{};
    const auto got = (*file)->read_at(0, bytes);
    if (!got) return got.error();
    return parse_dpx_header(std::span(bytes).first(*got), path);
}

struct FirstHeader {
    DpxHeader header;
    std::string path;
    std::uint64_t unreadable_before = 0;
    std::string first_problem;
};

Result<FirstHeader> first_readable(ByteStore& store,
                                   const std::string& directory,
                                   const FoundSequence& sequence) {
    FirstHeader found;
    std::optional<Error> first_error;
    for (const std::uint64_t number : sequence.numbers) {
        found.path = join_path(directory, sequence.pattern.name(number));
        const auto header = read_header(store, found.path);
        if (header) {
            found.header = *header;
            if (first_error) found.first_problem = first_error->problems.front();
            return found;
        }
        if (!first_error) first_error = header.error();
        ++found.unreadable_before;
    }
    return *first_error;
}

std::string count_of(std::uint64_t n, const char* one, const char* many) {
    return fmt::format("{} {}", show_count(n), n == 1 ? one : many);
}

}  // namespace

Result<Clip> index_sequence(ByteStore& store,
                            const std::string& directory,
                            const FoundSequence& sequence,
                            const std::string& name,
                            std::optional<KnownFrames> known) {
    auto found = first_readable(store, directory, sequence);
    if (!found) return found.error();
    const std::uint64_t first = sequence.numbers.front();
    const DpxHeader& header = found->header;
    const std::uint64_t span = sequence.numbers.back() - first + 1;
    if (span > kSpanAlways && span / kSpanPerFrame > sequence.numbers.size()) {
        return bad_input(
            fmt::format("{}: {} frames are there, but their numbers run from {} to {}: a file that does "
                        "not belong to them? Expected a sequence; move the stray file, or name another "
                        "directory",
                        join_path(directory, sequence.pattern.name(sequence.numbers.back())),
                        show_count(sequence.numbers.size()), first, sequence.numbers.back()));
    }
    const KnownFrames frames = known.value_or(KnownFrames{first, span, header.rate.value_or(FrameRate{24, 1})});

    Clip clip;
    clip.name = name;
    clip.format = header.describe();
    if (auto info = store.stat(found->path); info && *info) clip.modified_s = (*info)->modified_s;
    if (frames.count > sequence.numbers.size()) {
        const std::uint64_t missing = frames.count - sequence.numbers.size();
        clip.notes.push_back(count_of(missing, "frame number is missing", "frame numbers are missing"));
    }
    if (found->unreadable_before > 0) {
        clip.notes.push_back(fmt::format("{} at its beginning without a readable header: {}",
                                         count_of(found->unreadable_before, "frame", "frames"),
                                         found->first_problem));
    }
    if (!known && !header.rate)
        clip.notes.push_back(fmt::format("{} has no frame rate in its header: 24 taken", found->path));
    clip.index = make_sequence_index({.directory = directory,
                                      .pattern = sequence.pattern,
                                      .first = frames.first,
                                      .count = frames.count,
                                      .frame_bytes = header.expected_bytes,
                                      .rate = frames.rate});
    return clip;
}

}  // namespace streamsim
