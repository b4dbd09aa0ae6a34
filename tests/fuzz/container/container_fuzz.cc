// Container files of any kind, indexed as play does: by the walkers of the project and by libavformat.
#include "fuzz/container_checks.h"
#include "fuzz/memory_store.h"
#include "media/container/container_clip.h"

STREAMSIM_FUZZ(container, streamsim::fuzz::kLibavBytesBase) {
    using namespace streamsim;
    const std::string file = "clip.mov";
    fuzz::MemoryStore store;
    store.add(file, input);
    const auto clip = media::index_container(store, file, "clip", {.audio = true});
    if (!clip) return fuzz::require_refusal(clip.error(), file);
    fuzz::require_index(*clip->index);
}
