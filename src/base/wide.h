// 128 bits, for products of frames, denominators and nanoseconds. GCC and clang have the type on every 64-bit
// machine; __extension__ says that we know it is not in the standard.
#pragma once

namespace streamsim {

__extension__ using Wide = unsigned __int128;

}  // namespace streamsim
