#include "base/prng.h"

#include <random>

namespace streamsim {

double draw_exponential(Prng& prng) {
    for (double whole = 0;; whole += 1) {
        const double first = prng.unit();
        double last = first;
        bool odd = true;  // parity of the length of the falling run
        for (;; odd = !odd) {
            const double next = prng.unit();
            if (next >= last) break;
            last = next;
        }
        if (odd) return whole + first;
    }
}

std::uint64_t entropy64() {
    std::random_device device;
    const std::uint64_t high = device();
    return high << 32 | device();
}

}  // namespace streamsim
