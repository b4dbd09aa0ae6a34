// The walk over the keys and lengths of an MXF file, from packets as libavformat would give them: the first
// bytes of the input are these packets, the rest is the file.
#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/container/container_mxf.h"

STREAMSIM_FUZZ(mxf_walk) {
    using namespace streamsim;
    using fuzz::require;
    fuzz::Taker taker(input);
    media::MxfTracks first(1 + taker.byte() % 3);
    for (auto& track : first) {
        const std::size_t packets = 1 + taker.byte() % 3;
        for (std::size_t i = 0; i < packets; ++i) track.push_back({taker.number(2), 1 + taker.number(2)});
    }
    if (first.front().size() == 1) first.front().push_back(first.front().front());
    fuzz::MemorySource source(taker.rest());
    const auto walked = media::walk_mxf(source, first, nullptr);
    require(walked.has_value(), "a walk refuses nothing");
    if (!*walked) return;
    require((*walked)->size() == first.size(), "each track is walked");
    for (std::size_t t = 0; t < first.size(); ++t) {
        const auto& packets = (**walked)[t];
        require(packets.size() >= first[t].size(), "the packets that were known are found");
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < packets.size(); ++i) {
            require(packets[i].offset >= end && packets[i].bytes > 0, "packets follow each other");
            end = packets[i].offset + packets[i].bytes;
            require(end <= taker.rest().size(), "a packet lies in the file");
            if (i < first[t].size())
                require(packets[i].offset == first[t][i].offset && packets[i].bytes == first[t][i].bytes,
                        "the packets that were known come first");
        }
    }
}
