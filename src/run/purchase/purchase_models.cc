#include "run/purchase/purchase_models.h"

#include <utility>

namespace streamsim::run {

Result<std::vector<ClusterModel>> models_to_verify(const std::string& text,
                                                   const std::string& source,
                                                   const std::vector<sim::ModelChange>& changes) {
    auto nominal = sim::changed_model(text, source, changes);
    if (!nominal) return nominal.error();
    std::vector<ClusterModel> all;
    all.push_back(std::move(*nominal));
    return all;
}

}  // namespace streamsim::run
