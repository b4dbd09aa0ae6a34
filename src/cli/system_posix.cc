#include "cli/system.h"

namespace streamsim {

std::vector<std::string> begin_program(int argc, const char* const* argv) {
    return {argv, argv + argc};
}

std::FILE* open_output(const std::string& path, bool is_new) {
    return std::fopen(path.c_str(), is_new ? "wxe" : "we");
}

}  // namespace streamsim
