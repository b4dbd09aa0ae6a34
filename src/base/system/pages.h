// Memory from the system itself. An allocator would write its own books into the first page of each.
#pragma once

#include <cstddef>

namespace streamsim {

/// `bytes` of zeroes, whose pages exist once they are touched. Null: refused. Ends with unmap_pages.
void* map_zero_pages(std::size_t bytes);

/// Addresses without memory: to read or to write there ends the process. Null: refused. Ends with unmap_pages.
void* map_addresses(std::size_t bytes);

/// REQUIRES: what was mapped, as a whole.
void unmap_pages(void* pages, std::size_t bytes);

}  // namespace streamsim
