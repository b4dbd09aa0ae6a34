// The index that is kept beside a clip. The input is the file without its checksum, which is put behind it:
// else hardly any damage would be seen. Its first byte says whether the checksum is right.
#include <cstring>
#include <vector>

#include "base/byte_order.h"
#include "base/fnv1a.h"
#include "fuzz/container_checks.h"
#include "fuzz/memory_store.h"
#include "media/container/container_kept.h"

STREAMSIM_FUZZ(container_kept) {
    using namespace streamsim;
    using fuzz::require;
    if (input.empty()) return;
    const bool sums = (std::to_integer<int>(input.front()) & 1) == 0;
    std::vector<std::byte> bytes(input.begin() + 1, input.end());
    if (sums) {
        const std::uint64_t sum = fnv1a(bytes);
        bytes.resize(bytes.size() + sizeof sum);
        store(std::span(bytes), bytes.size() - sizeof sum, false, sum);
    }
    fuzz::MemoryStore files;
    files.add("clip.mov.streamsim-index", bytes);
    for (const bool audio : {false, true}) {
        const FileInfo media{false, 1'000'000, 1, false};
        const media::KeptFound found = media::find_kept(files, "clip.mov", media, audio);
        require(found.ours != found.foreign, "a file is ours or another's");
        require(found.clip.has_value() == found.note.empty(), "a note says why an index is not used");
        if (!found.clip) continue;
        for (const Extent& extent : found.clip->frames.extents)
            require(extent.offset + extent.bytes <= media.bytes, "a frame lies in the clip");
        fuzz::require_index(*media::make_container_index("clip.mov", found.clip->frames));
    }
}
