// Models of storage as documents: "streamsim.storage-model", in which every number says what it rests on.
// Strict: a model with a slip in it would answer a question that nobody asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// Reads a document of version 1 (formats/schema/storage-model.json says the same to an editor). `source` names
/// the text in messages. ClusterModel::sources has the basis of each number, in the order in which they are
/// read: "/node/cores: data sheet: ...". Errors: bad input with every problem, each with its JSON pointer; also
/// for numbers that are right by themselves and wrong together.
Result<ClusterModel> read_model_document(std::string_view text, const std::string& source);

/// A member, and what is wrong with it together with others.
struct ModelProblem {
    const char* member;
    std::string text;
};
/// For a model whose numbers were changed after it was read.
std::vector<ModelProblem> problems_together(const ClusterModel& model);

}  // namespace streamsim::sim
