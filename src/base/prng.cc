#include "base/prng.h"

#include <random>

namespace streamsim {

std::uint64_t entropy64() {
    std::random_device device;
    const std::uint64_t high = device();
    return high << 32 | device();
}

}  // namespace streamsim
