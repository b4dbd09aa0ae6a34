#include "run/journal.h"

#include <fmt/format.h>

namespace streamsim {

std::string Journal::file_name(std::uint32_t rank, const std::string& run_id) {
    return fmt::format("seat-{}-{}.json", rank, run_id);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path, const RunResult&, Notice) {
    return environment_error(path + ": cannot be written");
}

}  // namespace streamsim
