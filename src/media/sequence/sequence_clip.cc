#include "media/sequence/sequence_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/path.h"
#include "base/units.h"
#include "media/sequence/frame_gaps.h"
#include "media/sequence/sequence_sizes.h"

namespace streamsim::media {
namespace {

/// A gap costs a slot for each number in it. So many numbers are never too many; beyond them, one frame in a
/// thousand has to be there.
constexpr std::uint64_t kSpanAlways = 1'000'000;
constexpr std::uint64_t kSpanPerFrame = 1000;

/// A header whose file ends before the image says how long it should be, but a whole file says so better; of so
/// many after it one should be whole.
constexpr std::size_t kHeadersAfterCutMax = 16;

/// Number of files whose sizes are compared before one header counts for the whole sequence.
constexpr std::size_t kFilesSampled = 16;

struct FirstHeader {
    ImageHeader header;
    std::string path;
    std::size_t index = 0;  // in the numbers of the sequence: so many before it are not readable
    std::string first_problem;
};

Result<FirstHeader> first_readable(ByteStore& store,
                                   const std::string& directory,
                                   const FoundSequence& sequence,
                                   const IndexProgress* progress) {
    FirstHeader found;
    std::optional<FirstHeader> cut;
    std::optional<Error> first_error;
    for (; found.index < sequence.numbers.size(); ++found.index) {
        if (progress != nullptr && progress->cancelled()) return interrupted_error();
        if (cut && found.index - cut->index > kHeadersAfterCutMax) break;
        found.path = join_path(directory, sequence.name(found.index));
        auto header = read_frame_header(store, found.path);
        if (header) {
            found.header = std::move(*header);
            if (first_error) found.first_problem = first_error->problems.front();
            if (found.header.cut.empty()) return found;
            if (!cut) cut = found;
        }
        if (!first_error) first_error = header ? bad_input(cut->header.cut) : header.error();
    }
    // A single file has to be a whole image. For several files their sizes decide whether the files are cut or
    // the header is wrong.
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
        // One DPX or EXR with a number may be all that there is of a sequence; a JPEG or a PNG is a photograph.
        const bool numbered = sequence_.pattern.digits > 0;
        clip_.still = !known && sequence_.numbers.size() == 1 &&
                      (!numbered || image_kind(sequence_.name(0)) == ImageKind::by_size);
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
                            .other_suffix = sequence_.other_suffix,
                            .names = sequence_.names};
        note_names(known.has_value());
        note_gaps(facts);
        note_header(frames.rate, known.has_value());
        if (auto sized = find_sizes(facts, known.has_value(), progress); !sized) return sized.error();
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
        if (found_.index > 0) {
            note(fmt::format("{} at its beginning without a readable header: {}",
                             count_of(found_.index, "frame", "frames"), found_.first_problem));
        }
        if (auto info = store_.stat(found_.path); info && *info) {
            clip_.modified_s = (*info)->modified_s;
            found_bytes_ = (*info)->bytes;
        }
        if (known) return;
        if (!header.rate) {
            clip_.rate_assumed = true;
            const bool could = image_kind(base_name(found_.path)) != ImageKind::by_size;
            note(could ? fmt::format("{} has no frame rate in its header: 24 fps assumed", found_.path)
                       : "no frame rate in the file: 24 fps assumed");
        }
        if (header.timecode.empty() || sequence_.pattern.digits == 0) return;
        std::string by_number = timecode(sequence_.numbers[found_.index], rate);
        std::replace(by_number.begin(), by_number.end(), ';', ':');
        if (by_number == header.timecode) return;
        note(fmt::format("the time code in the header of {} is {}; its number says {}", found_.path,
                         header.timecode, by_number));
    }

    /// Determines the frame length: the length by one header counts for all frames as long as the files confirm
    /// it.
    Result<void> find_sizes(SequenceFacts& facts, bool known, IndexProgress* progress) {
        const std::uint64_t expected = found_.header.expected_bytes;
        if (known && expected > 0) return {};
        bool each = expected == 0;
        if (!known && sequence_.numbers.size() > 1) each = differs_from_last() || each;
        if (each || !alike(facts)) return check_each_file(facts, progress);
        if (facts.frame_bytes != expected) {
            note(fmt::format(
                "{} has {} bytes and its header accounts for {}: the file is believed, all of it is "
                "read{}",
                found_.path, show_count(facts.frame_bytes), show_count(expected),
                sequence_.numbers.size() == 1 ? "" : ", and so of the others, which are as long"));
        }
        return {};
    }

    /// Looks at a few files in equal distances, the first and the last among them. True: those that are not
    /// empty have one size, which is that of a frame then.
    bool alike(SequenceFacts& facts) const {
        std::uint64_t bytes = found_bytes_ > 0 ? found_bytes_ : facts.frame_bytes;
        std::size_t files = 0;
        const std::size_t last = sequence_.numbers.size() - 1;
        const std::size_t steps = std::min(last, kFilesSampled - 1);
        for (std::size_t i = 0; last > 0 && i <= steps; ++i) {
            const auto info = store_.stat(join_path(directory_, sequence_.name(last * i / steps)));
            if (!info || !*info || (*info)->bytes == 0) continue;
            if ((*info)->bytes != bytes) return false;
            ++files;
        }
        // One alone that is shorter than its header says does not bear itself out.
        if (!found_.header.cut.empty() && files < 2) return false;
        facts.frame_bytes = bytes;
        return true;
    }

    Result<void> check_each_file(SequenceFacts& facts, IndexProgress* progress) {
        auto sizes = read_file_sizes(store_, directory_, sequence_, progress);
        if (!sizes) return sizes.error();
        if (sizes->without > 0)
            note(count_of(sizes->without, "file is empty or not accessible",
                          "files are empty or not accessible"));
        facts.frame_bytes = sizes->median;
        facts.frame_sizes = std::move(sizes->bytes);
        if (found_.header.expected_bytes == 0) {
            if (!found_.header.cut.empty()) note(found_.header.cut);
            return {};
        }
        if (auto whole = lengthen_cut_ones(facts.frame_sizes, progress); !whole) return whole.error();
        const auto& all = facts.frame_sizes;
        if (std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) != all.end()) return {};
        facts.frame_bytes = all.front();
        facts.frame_sizes.clear();
        return {};
    }

    /// A file that its own header says is longer was cut: its frame keeps the length that it should have, and
    /// fails. Files of one size are taken to have headers of one kind. Errors: bad input when none is whole.
    Result<void> lengthen_cut_ones(std::vector<std::uint64_t>& sizes, IndexProgress* progress) {
        const std::uint64_t expected = found_.header.expected_bytes;
        std::map<std::uint64_t, std::uint64_t> lengths{{expected, expected}};  // frame length by file size
        std::uint64_t short_ones = 0;
        std::string first_short;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (progress != nullptr && progress->cancelled()) return interrupted_error();
            auto length = lengths.find(sizes[i]);
            std::string problem;
            if (length == lengths.end()) {
                const auto header = read_frame_header(store_, join_path(directory_, sequence_.name(i)));
                if (header) {
                    length = lengths.emplace(sizes[i], std::max(sizes[i], header->expected_bytes)).first;
                    problem = header->cut;
                } else {
                    problem = header.error().problems.front();
                }
            }
            // A file without a header that can be read is as long as the others should be.
            const std::uint64_t bytes = length == lengths.end() ? std::max(sizes[i], expected) : length->second;
            if (first_short.empty()) first_short = problem;
            if (bytes > sizes[i]) ++short_ones;
            sizes[i] = bytes;
        }
        if (short_ones == sizes.size()) return bad_input(first_short);
        if (short_ones > 0) {
            note(fmt::format("{} shorter than {} should be and will fail: {}",
                             count_of(short_ones, "frame is", "frames are"), short_ones == 1 ? "it" : "they",
                             first_short));
        }
        return {};
    }

    /// True: the last header is not like the first, so that one of them does not stand for all.
    bool differs_from_last() {
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
            note(fmt::format("its headers differ: {} is {}, {} is {}: the size of each file is taken",
                             found_.path, first.format, path, last->format));
            return true;
        }
        if (last->expected_bytes == first.expected_bytes) return false;
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
    std::uint64_t found_bytes_ = 0;  // size of the file with that header; 0: unknown
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

}  // namespace streamsim::media
