// Memory from the system itself: an allocator would write its own bookkeeping into the first page of each
// block.
#pragma once

#include <cstddef>

namespace streamsim {

/// `bytes` of zeroes, whose pages exist once they are touched. Null: refused. Ends with unmap_pages.
void* map_zero_pages(std::size_t bytes);

/// Addresses without memory: to read or to write there ends the process. Null: refused. Ends with unmap_pages.
void* map_addresses(std::size_t bytes);

/// REQUIRES: the whole of one mapping.
void unmap_pages(void* pages, std::size_t bytes);

}  // namespace streamsim
