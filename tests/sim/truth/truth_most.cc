#include "truth/truth_most.h"

#include <memory>
#include <utility>

#include "base/prng.h"
#include "run/calibration/virtual_target.h"
#include "target/target.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kStreamsMax = 2'000;

}  // namespace

run::PlayRequest request_on_truth(const TruthSpec& spec, std::uint64_t salt) {
    run::PlayRequest request;
    request.target = *target::parse_target("sim:null");
    request.virtual_storage = [spec, salt, runs = std::make_shared<std::uint64_t>(0)](EventLoop& loop) {
        TruthSpec next = spec;
        next.seed = derive_seed(derive_seed(spec.seed, salt), (*runs)++);
        return make_truth_storage(loop, next);
    };
    return request;
}

Result<std::uint64_t> truth_most(const TruthSpec& spec,
                                 const MediaFormat& format,
                                 std::uint32_t seats,
                                 std::uint64_t salt,
                                 Duration confirm) {
    judge::MaxSearchOptions search;
    search.confirm = confirm;
    search.repeatable = false;  // each run has chances of its own
    search.most = kStreamsMax;
    const auto most = run::most_streams(request_on_truth(spec, salt), format, seats, search, {});
    if (!most) return most.error();
    return most->streams;
}

}  // namespace streamsim::test
