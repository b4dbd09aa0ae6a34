// What statx(2) says about direct I/O. Linux only.
#pragma once

#include <sys/stat.h>

#include <algorithm>

#include "storage/local/local_file.h"

namespace streamsim::storage {

/// `answer` was asked for with STATX_DIOALIGN.
inline DirectAnswer direct_answer(const struct statx& answer) {
    return {(answer.stx_mask & STATX_DIOALIGN) != 0,
            std::max(answer.stx_dio_mem_align, answer.stx_dio_offset_align)};
}

}  // namespace streamsim::storage
