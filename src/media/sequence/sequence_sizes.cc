#include "media/sequence/sequence_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/path.h"
#include "base/system/thread_group.h"

namespace streamsim::media {
namespace {

/// Asking for a file's size waits for a server's round trip, and servers answer several questions at once. A
/// thread pays off from a few hundred files on.
constexpr std::size_t kThreadsMax = 8;
constexpr std::size_t kFilesPerThread = 256;
constexpr std::size_t kBatch = 64;  // files between two updates of the progress

}  // namespace

Result<SequenceSizes> read_file_sizes(ByteStore& store,
                                      const std::string& directory,
                                      const FoundSequence& sequence,
                                      IndexProgress* progress) {
    const std::size_t files = sequence.numbers.size();
    SequenceSizes out;
    out.bytes.resize(files);
    if (progress != nullptr) {
        progress->bytes_done = 0;
        progress->bytes_total = files;
    }
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (;;) {
            const std::size_t begin = next.fetch_add(kBatch);
            if (begin >= files || (progress != nullptr && progress->cancelled())) return;
            const std::size_t end = std::min(files, begin + kBatch);
            for (std::size_t i = begin; i < end; ++i) {
                const auto info = store.stat(join_path(directory, sequence.name(i)));
                if (info && *info && !(*info)->directory) out.bytes[i] = (*info)->bytes;
            }
            if (progress != nullptr) progress->bytes_done += end - begin;
        }
    };
    ThreadGroup threads;
    while (threads.size() + 1 < kThreadsMax && (threads.size() + 1) * kFilesPerThread < files) {
        if (!threads.add(work)) break;
    }
    work();
    threads.join();
    if (progress != nullptr) progress->bytes_total = 0;
    if (progress != nullptr && progress->cancelled()) return interrupted_error();

    std::vector<std::uint64_t> known;
    std::copy_if(out.bytes.begin(), out.bytes.end(), std::back_inserter(known),
                 [](std::uint64_t bytes) { return bytes > 0; });
    if (known.empty()) {
        return bad_input(
            fmt::format("{}: byte 0: the file is empty, expected an image, and so is every other of "
                        "its sequence",
                        join_path(directory, sequence.name(0))));
    }
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    out.median = *middle;
    out.without = files - known.size();
    std::replace(out.bytes.begin(), out.bytes.end(), std::uint64_t{0}, out.median);
    return out;
}

}  // namespace streamsim::media
