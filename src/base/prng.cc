#include "base/prng.h"

#include <sys/random.h>

#include "base/check.h"

namespace streamsim {

std::uint64_t entropy64() {
    std::uint64_t value = 0;
    const ssize_t got = getrandom(&value, sizeof value, 0);
    STREAMSIM_CHECK(got == static_cast<ssize_t>(sizeof value), "the kernel gives 8 random bytes at once");
    return value;
}

}  // namespace streamsim
