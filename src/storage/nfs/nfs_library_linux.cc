// Debian's libnfs, with a check of its own.
#include <arpa/inet.h>
#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>
#include <cstring>

#include "storage/nfs/nfs_library.h"

// libnfs 4 trusts the length of a list in a reply and allocates as much memory: a length of four thousand
// million ends the process. This function replaces libnfs's own of the same name, which the shared library
// calls by name, and checks the length against the bytes of the reply first.
extern "C" bool_t libnfs_zdr_array(ZDR* zdrs,
                                   char** list,
                                   std::uint32_t* count,
                                   std::uint32_t items_max,
                                   std::uint32_t item_bytes,
                                   zdrproc_t item) {
    using Original = decltype(&libnfs_zdr_array);
    static const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "libnfs_zdr_array"));
    if (original == nullptr) return FALSE;
    if (zdrs->x_op == ZDR_DECODE) {
        constexpr int kWord = 4;  // the smallest item
        std::uint32_t said = 0;
        if (zdrs->size - zdrs->pos < kWord) return FALSE;
        std::memcpy(&said, zdrs->buf + zdrs->pos, sizeof said);
        if (ntohl(said) > static_cast<std::uint32_t>(zdrs->size - zdrs->pos) / kWord) return FALSE;
    }
    return original(zdrs, list, count, items_max, item_bytes, item);
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
