#include "worlds/planted_bug.h"

#include <cstdlib>

namespace streamsim::worlds {

bool is_planted(int bug) {
    static const char* const text = std::getenv("STREAMSIM_PLANTED_BUG");
    static const int planted = text != nullptr ? std::atoi(text) : 0;
    return bug == planted;
}

}  // namespace streamsim::worlds
