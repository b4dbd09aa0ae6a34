#include "base/document/document.h"
#include "target/credentials.h"

namespace streamsim::target {

/// The folder's rights decide who may read it.
Result<std::string> read_secret(const std::string& name) {
    constexpr std::uint64_t kFileBytesMax = 64 * 1024;
    return read_document(name, kFileBytesMax);
}

}  // namespace streamsim::target
