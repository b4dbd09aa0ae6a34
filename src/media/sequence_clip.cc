#include "media/sequence_clip.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "media/frame_gaps.h"
#include "media/sequence_sizes.h"

namespace streamsim {
namespace {

/// A gap costs a slot for each number in it. So many numbers are never too many; beyond them, one frame in a
/// thousand has to be there.
constexpr std::uint64_t kSpanAlways = 1'000'000;
constexpr std::uint64_t kSpanPerFrame = 1000;

/// A header whose file ends before the image says how long it should be, but a whole file says so better; of so
/// many after it one should be whole.
constexpr std::size_t kLooksAfterCut = 16;

struct FirstHeader {
    ImageHeader header;
    std::string path;
    std::size_t place = 0;  // in the numbers of the sequence: so many before it are not readable
    std::string first_problem;
};

Result<FirstHeader> first_readable(ByteStore& store,
                                   const std::string& directory,
                                   const FoundSequence& sequence,
                                   const IndexProgress* progress) {
    FirstHeader found;
    std::optional<FirstHeader> cut;
    std::optional<Error> first_error;
    for (; found.place < sequence.numbers.size(); ++found.place) {
        if (progress != nullptr && progress->cancel) return interrupted_error();
        if (cut && found.place - cut->place > kLooksAfterCut) break;
        found.path = join_path(directory, sequence.name(found.place));
        auto header = read_frame_header(store, found.path);
        if (header) {
            found.header = std::move(*header);
            if (first_error) found.first_problem = first_error->problems.front();
            if (found.header.cut.empty()) return found;
            if (!cut) cut = found;
        }
        if (!first_error) first_error = header ? bad_input(cut->header.cut) : header.error();
    }
    // One file has to be an image. Of many that are all cut it is enough to know how long they should be.
    if (cut && sequence.numbers.size() > 1) return *cut;
    return *first_error;
}

std::string count_of(std::uint64_t n, const char* one, const char* many) {
    return fmt::format("{} {}", show_count(n), n == 1 ? one : many);
}

/// One sequence on its way to a clip.
class Indexing {
public:
    Indexing(ByteStore& store, const std::string& directory, const FoundSequence& sequence)
        : store_(store), directory_(directory), sequence_(sequence) {}

    Result<Clip> run(const std::string& name,
                     const std::optional<KnownFrames>& known,
                     IndexProgress* progress) {
        auto found = first_readable(store_, directory_, sequence_, progress);
        if (!found) return found.error();
        found_ = std::move(*found);
        if (auto span = check_span(); !span) return span.error();
        const std::uint64_t first = sequence_.numbers.front();
        const std::uint64_t count = sequence_.numbers.back() - first + 1;
        const KnownFrames frames =
            known.value_or(KnownFrames{first, count, found_.header.rate.value_or(FrameRate{24, 1})});

        clip_.name = name;
        clip_.format = found_.header.format;
        if (sequence_.pattern.digits > 0) clip_.start_timecode = frames.first;
        SequenceFacts facts{.directory = directory_,
                            .pattern = sequence_.pattern,
                            .first = frames.first,
                            .count = frames.count,
                            .frame_bytes = found_.header.expected_bytes,
                            .rate = frames.rate,
                            .listed = {},
                            .frame_sizes = {},
                            .other_case = sequence_.other_case,
                            .other_suffix = sequence_.other_suffix};
        note_names(known.has_value());
        note_gaps(facts);
        note_header(frames.rate, known.has_value());
        bool by_size = found_.header.expected_bytes == 0;
        if (!known && sequence_.numbers.size() > 1) by_size = compare_with_last() || by_size;
        if (by_size) {
            auto sizes = look_at_sizes(store_, directory_, sequence_, progress);
            if (!sizes) return sizes.error();
            if (sizes->without > 0)
                note(count_of(sizes->without, "file is empty or cannot be looked at",
                              "files are empty or cannot be looked at"));
            facts.frame_bytes = sizes->median;
            facts.frame_sizes = std::move(sizes->bytes);
        }
        clip_.index = make_sequence_index(std::move(facts));
        return std::move(clip_);
    }

private:
    void note(std::string text) { clip_.notes.push_back(std::move(text)); }

    Result<void> check_span() const {
        const std::uint64_t first = sequence_.numbers.front();
        const std::uint64_t last = sequence_.numbers.back();
        const std::uint64_t span = last - first + 1;
        if (span <= kSpanAlways || span / kSpanPerFrame <= sequence_.numbers.size()) return {};
        return bad_input(
            fmt::format("{}: {} frames are there, but their numbers run from {} to {}: a file that does "
                        "not belong to them? Expected a sequence; move the stray file, or name another "
                        "directory",
                        join_path(directory_, sequence_.name(sequence_.numbers.size() - 1)),
                        show_count(sequence_.numbers.size()), first, last));
    }

    void note_names(bool known) {
        if (!known && !sequence_.choice.empty()) note(sequence_.choice);
        const auto others = std::count(sequence_.other_case.begin(), sequence_.other_case.end(), true);
        if (others > 0) {
            note(fmt::format(
                "{} in {} instead of {}: taken as one sequence",
                count_of(static_cast<std::uint64_t>(others), "of its names ends", "of its names end"),
                sequence_.other_suffix, sequence_.pattern.suffix));
        }
        const std::string& prefix = sequence_.pattern.prefix;
        const bool minus = prefix.ends_with('-') && (prefix.size() == 1 || prefix[prefix.size() - 2] == '.' ||
                                                     prefix[prefix.size() - 2] == '_');
        if (minus) note("the minus before its frame numbers is taken as a part of the name");
    }

    void note_gaps(SequenceFacts& facts) {
        facts.listed = runs_of(sequence_.numbers, facts.first);
        const FrameGaps gaps = gaps_of(facts);
        if (gaps.missing() == 0) return facts.listed.clear();
        note(gaps.text());
    }

    void note_header(FrameRate rate, bool known) {
        const ImageHeader& header = found_.header;
        if (found_.place > 0) {
            note(fmt::format("{} at its beginning without a readable header: {}",
                             count_of(found_.place, "frame", "frames"), found_.first_problem));
        }
        if (auto info = store_.stat(found_.path); info && *info) {
            clip_.modified_s = (*info)->modified_s;
            note_length((*info)->bytes);
        }
        if (known) return;
        if (!header.rate) {
            clip_.rate_assumed = true;
            const bool could = image_kind(base_name(found_.path)) != ImageKind::by_size;
            note(could ? fmt::format("{} has no frame rate in its header: 24 taken", found_.path)
                       : "rate not in the file: 24 taken");
        }
        if (header.timecode.empty() || sequence_.pattern.digits == 0) return;
        std::string by_number = timecode(sequence_.numbers[found_.place], rate);
        std::replace(by_number.begin(), by_number.end(), ';', ':');
        if (by_number == header.timecode) return;
        note(fmt::format("the time code in the header of {} is {}; its number says {}", found_.path,
                         header.timecode, by_number));
    }

    /// The file is as long as it is; the frames are as long as their headers say.
    void note_length(std::uint64_t bytes) {
        const std::uint64_t expected = found_.header.expected_bytes;
        if (expected == 0 || bytes == expected) return;
        note(bytes > expected
                 ? fmt::format("{} has {} bytes, {} more than its header accounts for: they are not read",
                               found_.path, show_count(bytes), show_count(bytes - expected))
                 : fmt::format(
                       "{} has {} bytes, and its header accounts for {}: it is cut, or its header is wrong, "
                       "and a frame like it fails as too short",
                       found_.path, show_count(bytes), show_count(expected)));
    }

    /// True: the headers are of different lengths, so that one of them does not stand for all. A raster that
    /// changes is only said: the first header counts.
    bool compare_with_last() {
        const std::string path = join_path(directory_, sequence_.name(sequence_.numbers.size() - 1));
        if (path == found_.path) return false;
        const auto last = read_frame_header(store_, path);
        if (!last) {
            note(
                fmt::format("the header of its last frame is not readable: {}", last.error().problems.front()));
            return false;
        }
        const ImageHeader& first = found_.header;
        if (last->format != first.format) {
            note(fmt::format("its headers differ: {} is {}, {} is {}", found_.path, first.format, path,
                             last->format));
            return false;
        }
        const auto kind = image_kind(base_name(path));
        const bool texts = kind == ImageKind::exr || kind == ImageKind::tiff;
        if (!texts || last->expected_bytes == first.expected_bytes) return false;
        note(fmt::format(
            "its headers are of different lengths ({} and {} bytes a file): the size of each file is "
            "taken",
            show_count(first.expected_bytes), show_count(last->expected_bytes)));
        return true;
    }

    ByteStore& store_;
    const std::string& directory_;
    const FoundSequence& sequence_;
    FirstHeader found_;
    Clip clip_;
};

}  // namespace

Result<ImageHeader> read_frame_header(ByteStore& store, const std::string& path) {
    auto file = store.open(path);
    if (!file) return file.error();
    return read_image_header(**file, image_kind(base_name(path)).value_or(ImageKind::by_size), path);
}

Result<Clip> index_sequence(ByteStore& store,
                            const std::string& directory,
                            const FoundSequence& sequence,
                            const std::string& name,
                            std::optional<KnownFrames> known,
                            IndexProgress* progress) {
    return Indexing(store, directory, sequence).run(name, known, progress);
}

}  // namespace streamsim
