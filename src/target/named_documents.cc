#include "target/named_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/document/document.h"
#include "base/similar_names.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "scenario/published_document.h"
#include "scenario/workload_document.h"
#include "sim/model/model_document.h"
#include "target/allowed_places.h"

namespace streamsim::target {
namespace {

/// The file of a document; empty: there is none of this NAME.
std::string file_of(const std::string& typed, const std::string& directory) {
    if (names_a_file(typed)) return typed;
    std::string path = fmt::format("{}/{}.json", directory, typed);
    std::error_code error;
    return std::filesystem::exists(system_path(path), error) ? path : "";
}

/// "fitted to 8 rows of PAPER: 8 as printed"; "" without rows.
std::string rows_sentence(const PublishedPaper& paper, const std::string& model, bool fit) {
    std::size_t rows = 0, met = 0;
    const PublishedRow* worst = nullptr;
    const auto ratio = [](const PublishedRow& row) {
        return static_cast<double>(*row.model_gives) / row.printed;
    };
    const auto error = [&](const PublishedRow& row) {
        return std::max(ratio(row), 1 / std::max(ratio(row), 1e-9));
    };
    for (const PublishedRow& row : paper.rows) {
        if (row.model != model || row.fit != fit || !row.model_gives) continue;
        ++rows;
        met += *row.model_gives == row.printed ? 1U : 0U;
        if (worst == nullptr || error(row) > error(*worst)) worst = &row;
    }
    if (worst == nullptr) return "";
    std::string out = fmt::format("{} {} row{} of {}: {} as printed", fit ? "fitted to" : "checked on", rows,
                                  rows == 1 ? "" : "s", paper.title, met);
    if (met < rows)
        out += fmt::format(", worst {} with {} streams instead of {}", worst->id, *worst->model_gives,
                           worst->printed);
    return out;
}

}  // namespace

bool names_a_file(const std::string& typed) {
    return typed.find('/') != std::string::npos || typed.ends_with(".json");
}

std::vector<std::string> trust_of(const std::string& model, const std::string& directory) {
    std::vector<std::string> out;
    for (const std::string& name : document_names(directory)) {
        const auto text = read_document(fmt::format("{}/{}.json", directory, name));
        const auto paper = text ? scenario::read_published(*text, name) : Result<PublishedPaper>(text.error());
        if (!paper) continue;  // run published says what is wrong with it
        for (const bool fit : {true, false}) {
            const std::string sentence = rows_sentence(*paper, model, fit);
            if (!sentence.empty()) out.push_back(sentence);
        }
    }
    if (!out.empty()) return out;
    return {
        "no published row was played with this set-up: the model is as good as its worst number (streamsim "
        "inspect "
        "MODEL --sensitivity)"};
}

std::vector<std::string> document_names(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entries(system_path(directory), error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") names.push_back(utf8_text(entries->path().stem()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> trust_of(const CalibrationFacts& facts) {
    std::vector<std::string> out = {fmt::format("measured on {} at {} with {}{}", facts.target,
                                                facts.measured_at, counted(facts.seats, "seat"),
                                                facts.other_load ? ", beside other load" : "")};
    if (facts.held_back) out.push_back(held_back_sentence(*facts.held_back));
    return out;
}

Result<void> open_model(Target& target, const std::string& directory) {
    STREAMSIM_CHECK(target.kind == Target::Kind::model, "only a model has a document");
    if (auto named = check_named_file(target.path); !named) return named;
    const std::string path = file_of(target.path, directory);
    if (path.empty()) {
        std::vector<std::string> names = document_names(directory);
        names.emplace_back("null");
        return bad_input(
            fmt::format("'{}': there is no model '{}': expected one of {}, or a document as sim:FILE.json{}",
                        target.url, target.path, fmt::join(names, ", "), did_you_mean(target.path, names)));
    }
    const auto text = read_document(path);
    if (!text) return text.error();
    auto model = sim::read_model_document(*text, path);
    if (!model) return model.error();
    if (!names_a_file(target.path) && model->name != target.path)
        return bad_input(fmt::format("{}: /name: expected \"{}\", as the file is named", path, target.path));
    // The rows are of the shipped document as it is.
    const bool as_published = !names_a_file(target.path) && !target.cluster && !target.warm &&
                              target.strategy == AccessStrategy::as_media;
    model->trust = model->calibration ? trust_of(*model->calibration)
                                      : trust_of(as_published ? model->name : "", directory + "/../published");
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

Result<Workload> open_workload(const std::string& typed, const std::string& directory) {
    if (auto named = check_named_file(typed); !named) return named.error();
    const std::string path = file_of(typed, directory);
    if (path.empty()) {
        const std::vector<std::string> names = document_names(directory);
        return bad_input(fmt::format("there is no workload '{}': expected a FILE.json, or one of {}{}", typed,
                                     fmt::join(names, ", "), did_you_mean(typed, names)));
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
