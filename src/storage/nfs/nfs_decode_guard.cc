// libnfs 4 believes what a reply says about the length of a list, and asks for as much memory: a reply that
// says four thousand million ends the process. This function has the name of libnfs's own, which is called by
// its name in the shared library, so that it comes first: it holds the length against the bytes that are there.
#include <arpa/inet.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_requests.h"

extern "C" bool_t libnfs_zdr_array(ZDR* zdrs,
                                   char** list,
                                   std::uint32_t* count,
                                   std::uint32_t most,
                                   std::uint32_t item_bytes,
                                   zdrproc_t item) {
    using Original = decltype(&libnfs_zdr_array);
    static const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "libnfs_zdr_array"));
    if (original == nullptr) return FALSE;
    if (zdrs->x_op == ZDR_DECODE) {
        constexpr int kWord = 4;  // the least that an item takes
        std::uint32_t said = 0;
        if (zdrs->size - zdrs->pos < kWord) return FALSE;
        std::memcpy(&said, zdrs->buf + zdrs->pos, sizeof said);
        if (ntohl(said) > static_cast<std::uint32_t>(zdrs->size - zdrs->pos) / kWord) return FALSE;
    }
    return original(zdrs, list, count, most, item_bytes, item);
}

namespace streamsim::storage {
void use_nfs_decode_guard() {}
}  // namespace streamsim::storage
