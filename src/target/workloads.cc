#include "target/workloads.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "scenario/workload_document.h"
#include "target/named_documents.h"

namespace streamsim::target {

Result<Workload> open_workload(const std::string& typed, const std::string& directory) {
    const bool is_file = names_a_file(typed);
    const std::string path = is_file ? typed : directory + "/" + typed + ".json";
    std::error_code error;
    if (!is_file && !std::filesystem::exists(utf8_path(path), error)) {
        return bad_input(fmt::format("there is no workload '{}': expected a FILE.json, or one of {}", typed,
                                     document_names(directory)));
    }
    const auto text = read_document(path);
    if (!text) return text.error();
    return scenario::read_workload(*text, path);
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

}  // namespace streamsim::target
