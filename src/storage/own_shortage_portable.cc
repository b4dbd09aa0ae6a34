#include "storage/errno_text.h"

namespace streamsim::storage {

int error_or_own_shortage(int error) {
    return error;
}

}  // namespace streamsim::storage
