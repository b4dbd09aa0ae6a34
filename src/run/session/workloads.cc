#include "run/session/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "scenario/workload_document.h"

namespace streamsim::run {
namespace {

std::string names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entries(utf8_path(directory), error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") names.push_back(entries->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return all;
}

}  // namespace

Result<Workload> open_workload(const std::string& typed, const std::string& directory) {
    const bool is_file = typed.find('/') != std::string::npos || typed.ends_with(".json");
    const std::string path = is_file ? typed : directory + "/" + typed + ".json";
    std::error_code error;
    if (!is_file && !std::filesystem::exists(utf8_path(path), error)) {
        return bad_input(fmt::format("there is no workload '{}': expected a FILE.json, or one of {}", typed,
                                     names_in(directory)));
    }
    const auto text = read_document(path);
    if (!text) return text.error();
    return scenario::read_workload(*text, path);
}

std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats) {
    std::vector<MeterPart> parts;
    for (const MeterSpec& spec : workload.meters) parts.push_back({spec, first, seats});
    for (MeterPart& part : parts) part.spec.name = workload.name + "-" + part.spec.name;
    return parts;
}

std::vector<std::string> without_effect(const Workload& workload) {
    std::vector<std::string> out;
    for (const MeterSpec& spec : workload.meters) {
        const bool writes = spec.weights[static_cast<std::size_t>(LoadOperation::write)] > 0 ||
                            workload.sweep.over == Sweep::Over::read_percent;
        if (!writes && spec.sync != MeterSpec::Sync::never)
            out.push_back(fmt::format("meter {}: sync has no effect, as nothing is written", spec.name));
        if (spec.random_by_block && spec.random_share <= 0)
            out.push_back(
                fmt::format("meter {}: random_unit has no effect, as random_percent is 0", spec.name));
    }
    return out;
}

PlayRequest load_request(const Workload& step, const PlayRequest& base) {
    PlayRequest request = base;
    request.formats.clear();
    request.streams = 0;
    request.seats = step.clients;
    request.meters = meters_of(step, 0, step.clients);
    request.duration = step.duration;
    return request;
}

}  // namespace streamsim::run
