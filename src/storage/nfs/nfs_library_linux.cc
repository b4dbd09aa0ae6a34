// Debian's libnfs, with a check of its own.
#include <arpa/inet.h>
#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>
#include <cstring>

#include "storage/nfs/nfs_library.h"

// libnfs 4 trusts lengths in a reply. It allocates as much memory as the length of a list says: one of four
// thousand million ends the process. A text or a handle of more than 2 GiB passes its own check, which takes
// the length for a negative number: the text reaches beyond the reply, and what follows is read from before
// it. Nothing is checked for bytes of a fixed number. These functions replace libnfs's own of the same names,
// which the shared library calls by name, and check a length against the bytes of the reply first.
namespace {

/// True where a length comes next, and at most as many items of this size as the rest of the reply can hold.
bool length_fits(const ZDR* zdrs, std::uint32_t item_bytes_min) {
    constexpr int kWord = 4;
    if (zdrs->x_op != ZDR_DECODE) return true;
    if (zdrs->pos < 0 || zdrs->size - zdrs->pos < kWord) return false;
    std::uint32_t length = 0;
    std::memcpy(&length, zdrs->buf + zdrs->pos, sizeof length);
    return ntohl(length) <= static_cast<std::uint32_t>(zdrs->size - zdrs->pos - kWord) / item_bytes_min;
}

template <typename Function>
Function* original_of(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" bool_t libnfs_zdr_array(ZDR* zdrs,
                                   char** list,
                                   std::uint32_t* count,
                                   std::uint32_t items_max,
                                   std::uint32_t item_bytes,
                                   zdrproc_t item) {
    static auto* const original = original_of<decltype(libnfs_zdr_array)>("libnfs_zdr_array");
    constexpr std::uint32_t kSmallestItem = 4;
    if (original == nullptr || !length_fits(zdrs, kSmallestItem)) return FALSE;
    return original(zdrs, list, count, items_max, item_bytes, item);
}

extern "C" bool_t libnfs_zdr_bytes(ZDR* zdrs, char** bytes, std::uint32_t* count, std::uint32_t bytes_max) {
    static auto* const original = original_of<decltype(libnfs_zdr_bytes)>("libnfs_zdr_bytes");
    if (original == nullptr || !length_fits(zdrs, 1)) return FALSE;
    return original(zdrs, bytes, count, bytes_max);
}

extern "C" bool_t libnfs_zdr_opaque(ZDR* zdrs, char* bytes, std::uint32_t count) {
    static auto* const original = original_of<decltype(libnfs_zdr_opaque)>("libnfs_zdr_opaque");
    if (original == nullptr) return FALSE;
    if (zdrs->x_op == ZDR_DECODE) {
        const bool there = zdrs->pos >= 0 && zdrs->pos <= zdrs->size &&
                           count <= static_cast<std::uint32_t>(zdrs->size - zdrs->pos);
        if (!there) return FALSE;
    }
    return original(zdrs, bytes, count);
}

extern "C" bool_t libnfs_zdr_string(ZDR* zdrs, char** text, std::uint32_t bytes_max) {
    static auto* const original = original_of<decltype(libnfs_zdr_string)>("libnfs_zdr_string");
    if (original == nullptr || !length_fits(zdrs, 1)) return FALSE;
    return original(zdrs, text, bytes_max);
}

namespace streamsim::storage {

nfs_context* new_nfs_context() {
#ifdef __GLIBC__
    // libnfs allocates a buffer for each request. With glibc's own limits the memory of 8 MiB in flight goes
    // back to the system every time and is cleared again: a tenth of the CPU time of writing.
    static const bool kept = [] {
        constexpr int kKeptBytes = 32 << 20;
        return mallopt(M_MMAP_THRESHOLD, kKeptBytes) == 1 && mallopt(M_TRIM_THRESHOLD, kKeptBytes) == 1;
    }();
    (void)kept;
#endif
    return nfs_init_context();
}

}  // namespace streamsim::storage
