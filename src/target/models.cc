#include "target/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/check.h"
#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "sim/model/model_document.h"

namespace streamsim::target {
namespace {

bool is_file_name(const std::string& model) {
    return model.find('/') != std::string::npos || model.ends_with(".json");
}

/// "f800, h500, ...": the documents in a directory, in name order.
std::string names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entries(utf8_path(directory), error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") names.push_back(entries->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<void> open_model(Target& target, const std::string& directory) {
    STREAMSIM_CHECK(target.kind == Target::Kind::model, "only a model has a document");
    const bool own = !is_file_name(target.path);
    const std::string path = own ? fmt::format("{}/{}.json", directory, target.path) : target.path;
    std::error_code error;
    if (own && !std::filesystem::exists(utf8_path(path), error)) {
        return bad_input(fmt::format(
            "'{}': there is no model '{}': expected one of {}, null, or a document as sim:FILE.json",
            target.url, target.path, names_in(directory)));
    }
    const auto text = read_document(path);
    if (!text) return text.error();
    auto model = sim::read_model_document(*text, path);
    if (!model) return model.error();
    if (own && model->name != target.path)
        return bad_input(fmt::format("{}: /name: expected \"{}\", as the file is named", path, target.path));
    model->nodes = target.cluster.value_or(model->nodes);
    Error wrong;
    if (target.nodes.value_or(1) > model->nodes) {
        wrong.problems.push_back(fmt::format("'{}': nodes={}: this cluster has {} of them for its seats",
                                             target.url, *target.nodes, model->nodes));
    }
    for (const sim::ModelProblem& each : sim::problems_together(*model))  // the document had none
        wrong.problems.push_back(fmt::format("'{}': cluster={}: {}", target.url, model->nodes, each.text));
    if (!wrong.problems.empty()) return wrong;
    target.model = std::make_shared<const ClusterModel>(std::move(*model));
    return {};
}

}  // namespace streamsim::target
