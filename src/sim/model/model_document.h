// Models of storage as documents: "streamsim.storage-model", in which every number has its basis. The reader is
// strict: a model with a mistake would answer another question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// Reads a document of version 1 (formats/schema/storage-model.json is its schema for editors). `source` names
/// the text in messages. ClusterModel::sources has the basis of each number, in the order in which they are
/// read: "/node/cores: data sheet: ...". Errors: bad input with every problem, each with its JSON pointer; also
/// for numbers that are right by themselves and wrong together.
Result<ClusterModel> read_model_document(std::string_view text, const std::string& source);

/// A member that contradicts others.
struct ModelProblem {
    const char* member;
    std::string text;
};
/// Checks a model whose numbers were changed after it was read.
std::vector<ModelProblem> problems_together(const ClusterModel& model);

}  // namespace streamsim::sim
