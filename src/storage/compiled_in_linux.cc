#include "storage/compiled_in.h"

namespace streamsim {

std::vector<std::string> storage_compiled_in() {
    return {"uring", "threads", "nfs", "smb"};
}

}  // namespace streamsim
