#include "streamsim/run_result.h"

namespace streamsim {

RunResult::RunResult() = default;
RunResult::RunResult(const RunResult&) = default;
RunResult::RunResult(RunResult&&) noexcept = default;
RunResult& RunResult::operator=(const RunResult&) = default;
RunResult& RunResult::operator=(RunResult&&) noexcept = default;
RunResult::~RunResult() = default;

}  // namespace streamsim
