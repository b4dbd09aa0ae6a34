// Only Linux lets a program replace a function of a library: elsewhere libnfs has to be built with the check of
// nfs_library_linux.cc.
#include "storage/nfs/nfs_library.h"

namespace streamsim::storage {

nfs_context* new_nfs_context() {
    return nfs_init_context();
}

}  // namespace streamsim::storage
