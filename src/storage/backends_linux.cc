#include "storage/backends.h"

namespace streamsim::storage {

std::vector<std::string> storage_compiled_in() {
    std::vector<std::string> names{"uring", "threads"};
    if (nfs_is_built_in()) names.emplace_back("nfs");
    if (smb_is_built_in()) names.emplace_back("smb");
    return names;
}

}  // namespace streamsim::storage
