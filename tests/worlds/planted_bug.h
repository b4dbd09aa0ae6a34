// Bugs that are planted in copies of modules (CMakeLists.txt), to see that the worlds find them. Each is asleep
// until the environment variable STREAMSIM_PLANTED_BUG has its number.
#pragma once

namespace streamsim::worlds {

bool is_planted(int bug);

}  // namespace streamsim::worlds
