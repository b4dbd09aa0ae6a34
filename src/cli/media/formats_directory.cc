#include "cli/media/formats_directory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "run/process/program_path.h"

namespace streamsim::cli {

Result<std::string> formats_directory() {
    std::vector<std::filesystem::path> places;
    std::error_code error;
    if (const char* named = std::getenv("STREAMSIM_FORMATS"); named != nullptr) {
        places.emplace_back(named);
    } else {
        places.push_back(run::program_path().parent_path().parent_path() / "share/streamsim/formats");
        places.emplace_back(STREAMSIM_SOURCE_FORMATS);
    }
    std::string looked;
    for (const auto& place : places) {
        if (std::filesystem::is_directory(place / "media", error)) return place.generic_string();
        looked += (looked.empty() ? "" : " or ") + place.generic_string();
    }
    return environment_error(fmt::format(
        "the media formats are not at {}: set STREAMSIM_FORMATS to the folder that holds media/", looked));
}

}  // namespace streamsim::cli
