#include "storage/nfs_byte_store.h"

namespace streamsim {
std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace&, const std::string&) {
    return nullptr;
}
}  // namespace streamsim
