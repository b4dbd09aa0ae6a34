#include "storage/smb_byte_store.h"

namespace streamsim {
std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace&, const std::string&, const Credentials&) {
    return nullptr;
}
}  // namespace streamsim
