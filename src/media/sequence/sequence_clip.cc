#include "media/sequence/sequence_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/path.h"
#include "base/system/parallel_for.h"
#include "base/units.h"

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

/// Files that one thread asks for their sizes, between two updates of the progress.
constexpr std::size_t kBatch = 64;

struct FirstHeader {
    ImageHeader header;
    std::string path;
    std::size_t index = 0;  // in the numbers of the sequence: so many before it are not readable
    std::string first_problem;
};

std::string count_of(std::uint64_t n, const char* one, const char* many) {
    return fmt::format("{} {}", show_count(n), n == 1 ? one : many);
}

class Indexing {
public:
    Indexing(ByteStore& store,
             const std::string& directory,
             const FoundSequence& sequence,
             const std::optional<KnownFrames>& known,
             IndexProgress* progress)
        : store_(store), directory_(directory), sequence_(sequence), known_(known), progress_(progress) {}

    Result<Clip> run(const std::string& name) {
        if (auto readable = find_readable(); !readable) return readable.error();
        if (auto span = check_span(); !span) return span.error();
        const std::uint64_t first = sequence_.numbers.front();
        const std::uint64_t count = sequence_.numbers.back() - first + 1;
        const KnownFrames frames =
            known_.value_or(KnownFrames{first, count, found_.header.rate.value_or(FrameRate{24, 1})});

        clip_.name = name;
        clip_.format = found_.header.format;
        // One DPX or EXR with a number may be all that there is of a sequence; a JPEG or a PNG is a photograph.
        const bool numbered = sequence_.pattern.digits > 0;
        clip_.still = !known_ && sequence_.numbers.size() == 1 &&
                      (!numbered || image_kind(sequence_.name(0)) == ImageKind::by_size);
        if (numbered) clip_.start_timecode = frames.first;
        SequenceFacts facts{.directory = directory_,
                            .pattern = sequence_.pattern,
                            .first = frames.first,
                            .count = frames.count,
                            .frame_bytes = found_.header.expected_bytes,
                            .rate = frames.rate,
                            .other_case = sequence_.other_case,
                            .other_suffix = sequence_.other_suffix,
                            .names = sequence_.names};
        note_names();
        note_gaps(facts);
        note_header(frames.rate);
        if (auto sized = find_sizes(facts); !sized) return sized.error();
        clip_.index = make_sequence_index(std::move(facts));
        return std::move(clip_);
    }

private:
    template <typename... Args>
    void note(fmt::format_string<Args...> text, Args&&... args) {
        clip_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    /// The clip is as young as the youngest of the files that are looked at.
    std::optional<FileInfo> look_at(const std::string& path) {
        const auto info = store_.stat(path);
        if (!info || !*info) return std::nullopt;
        clip_.touched_s = std::max(clip_.touched_s, (*info)->touched_s());
        return **info;
    }

    std::string path_of(std::size_t i) const { return join_path(directory_, sequence_.name(i)); }
    bool cancelled() const { return progress_ != nullptr && progress_->cancelled(); }

    Result<void> find_readable() {
        std::optional<FirstHeader> cut;
        std::optional<Error> first_error;
        for (; found_.index < sequence_.numbers.size(); ++found_.index) {
            if (cancelled()) return interrupted_error();
            if (cut && found_.index - cut->index > kHeadersAfterCutMax) break;
            found_.path = path_of(found_.index);
            auto header = read_frame_header(store_, found_.path);
            remember_bad(found_.index, header);
            if (header) {
                found_.header = std::move(*header);
                if (first_error) found_.first_problem = first_error->problems.front();
                if (found_.header.cut.empty()) return {};
                if (!cut) cut = found_;
            }
            if (!first_error) first_error = header ? bad_input(cut->header.cut) : header.error();
        }
        // A single file has to be a whole image. For several files their sizes decide whether the files are cut
        // or the header is wrong.
        if (!cut || sequence_.numbers.size() == 1) return *first_error;
        found_ = *cut;
        return {};
    }

    /// Keeps in mind a frame that is cut, or that is no image of its kind. One that cannot be read now may be
    /// read in play.
    void remember_bad(std::size_t i, const Result<ImageHeader>& header) {
        const bool bad = header ? !header->cut.empty() : header.error().kind == ErrorKind::bad_input;
        if (!bad || (!bad_.empty() && bad_.back() == i)) return;
        if (bad_.empty()) bad_problem_ = header ? header->cut : header.error().problems.front();
        bad_.push_back(i);
    }

    Result<void> check_span() const {
        const std::uint64_t first = sequence_.numbers.front();
        const std::uint64_t last = sequence_.numbers.back();
        const std::uint64_t span = last - first + 1;
        if (span <= kSpanAlways || span / kSpanPerFrame <= sequence_.numbers.size()) return {};
        return bad_input(fmt::format(
            "{}: {} frames are there, but their numbers run from {} to {}: a file that does not belong to "
            "them? Expected a sequence; move the stray file, or name another directory",
            path_of(sequence_.numbers.size() - 1), show_count(sequence_.numbers.size()), first, last));
    }

    void note_names() {
        if (!known_ && !sequence_.choice.empty()) clip_.notes.push_back(sequence_.choice);
        const auto others = std::count(sequence_.other_case.begin(), sequence_.other_case.end(), true);
        if (others > 0) {
            note("{} in {} instead of {}: taken as one sequence",
                 count_of(static_cast<std::uint64_t>(others), "of its names ends", "of its names end"),
                 sequence_.other_suffix, sequence_.pattern.suffix);
        }
        const std::string& prefix = sequence_.pattern.prefix;
        if (prefix == "-" || prefix.ends_with(".-") || prefix.ends_with("_-"))
            note("the minus before its frame numbers is taken as a part of the name");
    }

    void note_gaps(SequenceFacts& facts) {
        facts.listed = runs_of(sequence_.numbers, facts.first);
        const FrameGaps gaps = gaps_of(facts);
        if (gaps.missing == 0) return facts.listed.clear();
        clip_.notes.push_back(gaps.text);
    }

    void note_header(FrameRate rate) {
        const ImageHeader& header = found_.header;
        if (found_.index > 0) {
            note("{} at its beginning without a readable header: {}", count_of(found_.index, "frame", "frames"),
                 found_.first_problem);
        }
        if (const auto info = look_at(found_.path)) found_bytes_ = info->bytes;
        if (known_) return;
        if (!header.rate) {
            clip_.rate_assumed = true;
            if (header.rate_is_read) {
                note("{} has no frame rate in its header: 24 fps assumed", found_.path);
            } else {
                note("streamsim reads no frame rate from .{} files: 24 fps assumed, give --fps", header.format);
            }
        }
        if (header.timecode.empty() || sequence_.pattern.digits == 0) return;
        std::string by_number = timecode(sequence_.numbers[found_.index], rate);
        std::replace(by_number.begin(), by_number.end(), ';', ':');
        if (by_number == header.timecode) return;
        note("the time code in the header of {} is {}; its number says {}", found_.path, header.timecode,
             by_number);
    }

    /// Determines the frame length: the length by one header counts for all frames as long as the files confirm
    /// it.
    Result<void> find_sizes(SequenceFacts& facts) {
        const std::uint64_t expected = found_.header.expected_bytes;
        const bool several = sequence_.numbers.size() > 1;
        if (known_ && expected > 0) {
            if (several) (void)look_at(path_of(sequence_.numbers.size() - 1));
            return {};
        }
        // Each frame of EXR may have a data window of its own.
        bool each = expected == 0 || (several && image_kind(base_name(found_.path)) == ImageKind::exr);
        if (!known_ && several) each = differs_from_last() || each;
        if (each || !alike(facts)) {
            if (auto checked = check_each_file(facts); !checked) return checked;
        }
        if (expected > 0 && facts.frame_sizes.empty() && facts.frame_bytes != expected) {
            note("{} has {} bytes and its header accounts for {}: the file is believed, all of it is read{}",
                 found_.path, show_count(facts.frame_bytes), show_count(expected),
                 sequence_.numbers.size() == 1 ? "" : ", and so of the others, which are as long");
        }
        return {};
    }

    /// Looks at a few files in equal distances, the first and the last among them. True: those that are not
    /// empty have one size, which is that of a frame then. Files that are much shorter than their header says
    /// do not bear each other out: they were all cut.
    bool alike(SequenceFacts& facts) {
        const ImageHeader& header = found_.header;
        const std::uint64_t bytes = found_bytes_ > 0 ? found_bytes_ : facts.frame_bytes;
        const std::uint64_t lack = header.expected_bytes - std::min(header.expected_bytes, bytes);
        if (header.image_begins >= bytes || lack > kLineFill * header.height) return false;
        std::size_t files = 0;
        const std::size_t last = sequence_.numbers.size() - 1;
        const std::size_t steps = std::min(last, kFilesSampled - 1);
        for (std::size_t i = 0; last > 0 && i <= steps; ++i) {
            const auto info = look_at(path_of(last * i / steps));
            if (!info || info->bytes == 0) continue;
            if (info->bytes != bytes) return false;
            ++files;
        }
        // One alone that is shorter than its header says does not bear itself out.
        if (!header.cut.empty() && files < 2) return false;
        facts.frame_bytes = bytes;
        if (steps < last) facts.looked_at = steps + 1;
        return true;
    }

    /// Looks at each file, several at a time; one without a size has the median of the others. Errors: bad
    /// input when no file has a size; interrupted.
    Result<void> read_file_sizes(SequenceFacts& facts) {
        const std::size_t files = sequence_.numbers.size();
        std::vector<std::uint64_t> sizes(files);
        std::vector<std::int64_t> touched_s((files + kBatch - 1) / kBatch);  // of the youngest of each batch
        if (progress_ != nullptr) {
            progress_->files_done = 0;
            progress_->files_total = files;
        }
        parallel_for(touched_s.size(), [&](std::size_t batch) {
            if (cancelled()) return;
            const std::size_t begin = batch * kBatch;
            const std::size_t end = std::min(files, begin + kBatch);
            for (std::size_t i = begin; i < end; ++i) {
                const auto info = store_.stat(path_of(i));
                if (!info || !*info || (*info)->directory) continue;
                sizes[i] = (*info)->bytes;
                touched_s[batch] = std::max(touched_s[batch], (*info)->touched_s());
            }
            if (progress_ != nullptr) progress_->files_done += end - begin;
        });
        if (progress_ != nullptr) progress_->files_total = 0;
        if (cancelled()) return interrupted_error();
        clip_.touched_s = std::max(clip_.touched_s, std::ranges::max(touched_s));

        std::vector<std::uint64_t> known;
        std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(known),
                     [](std::uint64_t bytes) { return bytes > 0; });
        if (known.empty()) {
            return bad_input(path_of(0) + ": byte 0: the file is empty, expected an image, and so is every " +
                             "other of its sequence");
        }
        if (known.size() < files)
            note("{} empty or not accessible", count_of(files - known.size(), "file is", "files are"));
        const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
        std::nth_element(known.begin(), middle, known.end());
        facts.frame_bytes = *middle;
        std::replace(sizes.begin(), sizes.end(), std::uint64_t{0}, facts.frame_bytes);
        facts.frame_sizes = std::move(sizes);
        return {};
    }

    Result<void> check_each_file(SequenceFacts& facts) {
        if (auto read = read_file_sizes(facts); !read) return read;
        if (found_.header.expected_bytes == 0) return lengthen_bad_ones(facts);
        if (auto whole = lengthen_cut_ones(facts.frame_sizes); !whole) return whole.error();
        const auto& all = facts.frame_sizes;
        if (std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) != all.end()) return {};
        facts.frame_bytes = all.front();
        facts.frame_sizes.clear();
        return {};
    }

    /// No header of a compressed image says how long it is: a frame that is known to be cut or unreadable gets
    /// more bytes than its file, and fails. Errors: bad input when all are.
    Result<void> lengthen_bad_ones(SequenceFacts& facts) {
        if (bad_.empty()) return {};
        if (bad_.size() == facts.frame_sizes.size()) return bad_input(bad_problem_);
        for (const std::size_t i : bad_)
            facts.frame_sizes[i] = std::max(facts.frame_sizes[i] + 1, facts.frame_bytes);
        note("{} cut or unreadable and will fail: {}", count_of(bad_.size(), "frame is", "frames are"),
             bad_problem_);
        return {};
    }

    /// A file that its own header says is longer was cut: its frame keeps the length that it should have, and
    /// fails. Files of one size are taken to have headers of one kind. Errors: bad input when none is whole.
    Result<void> lengthen_cut_ones(std::vector<std::uint64_t>& sizes) {
        const std::uint64_t expected = found_.header.expected_bytes;
        std::map<std::uint64_t, std::uint64_t> lengths{{expected, expected}};  // frame length by file size
        std::uint64_t short_ones = 0;
        std::string first_short;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (cancelled()) return interrupted_error();
            auto length = lengths.find(sizes[i]);
            std::string problem;
            if (length == lengths.end()) {
                const auto header = read_frame_header(store_, path_of(i));
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
            note("{} shorter than {} should be and will fail: {}",
                 count_of(short_ones, "frame is", "frames are"), short_ones == 1 ? "it" : "they", first_short);
        }
        return {};
    }

    /// True: the last header is not like the first, so that one of them does not stand for all.
    bool differs_from_last() {
        const std::string path = path_of(sequence_.numbers.size() - 1);
        if (path == found_.path) return false;
        const auto last = read_frame_header(store_, path);
        remember_bad(sequence_.numbers.size() - 1, last);
        if (!last) {
            note("the header of its last frame is not readable: {}", last.error().problems.front());
            return false;
        }
        const ImageHeader& first = found_.header;
        if (last->format != first.format) {
            note("its headers differ: {} is {}, {} is {}: the size of each file is taken", found_.path,
                 first.format, path, last->format);
            return true;
        }
        if (last->expected_bytes == first.expected_bytes) return false;
        note("its headers are of different lengths ({} and {} bytes a file): the size of each file is taken",
             show_count(first.expected_bytes), show_count(last->expected_bytes));
        return true;
    }

    ByteStore& store_;
    const std::string& directory_;
    const FoundSequence& sequence_;
    const std::optional<KnownFrames>& known_;
    IndexProgress* progress_;
    FirstHeader found_;
    std::uint64_t found_bytes_ = 0;  // size of the file with that header; 0: unknown
    std::vector<std::size_t> bad_;   // frames that are cut or unreadable by their own headers, rising
    std::string bad_problem_;        // of the first of them
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
    return Indexing(store, directory, sequence, known, progress).run(name);
}

}  // namespace streamsim::media
