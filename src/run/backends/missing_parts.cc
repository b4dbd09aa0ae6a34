#include "run/backends/missing_parts.h"

#include <algorithm>

#include "media/frames/frame_maker.h"
#include "run/backends/backends.h"
#include "seats/mpi_start.h"
#include "view/http/http_server.h"

namespace streamsim::run {

BuiltIn built_in() {
    return {backend_names(), view::http_is_built_in(), media::exr_is_built_in(), seats::mpi_is_built_in()};
}

std::vector<std::string> missing_parts(const BuiltIn& parts) {
    std::vector<std::string> missing;
    const auto need = [&missing](bool built, const char* part) {
        if (!built) missing.emplace_back(part);
    };
    const auto has = [&parts](const char* backend) {
        return std::find(parts.backends.begin(), parts.backends.end(), backend) != parts.backends.end();
    };
    need(has("uring"), "io_uring");
    need(has("nfs"), "nfs:// (play the mounted share)");
    need(has("smb"), "smb:// (play the mounted share)");
    need(parts.http, "--metrics and --web");
    need(parts.exr, "making EXR frames");
    need(parts.mpi, "MPI");
    return missing;
}

}  // namespace streamsim::run
