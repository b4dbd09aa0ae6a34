// Clusters by chance, all parts different, and loads on them by chance: what the searches for broken laws run
// on.
#pragma once

#include <algorithm>

#include "base/prng.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {

double between(Prng& prng, double from, double to);

/// One to five nodes, one to six seats: disks or flash, caches of any size or none, a switch that narrows or
/// not, connections with a rate of their own or not, a coordinator of files or not, warm or cold.
sim::ClusterOptions random_cluster(Prng& prng);

/// Reads at random times and random offsets; some in order, some again.
struct Load {
    static constexpr std::uint32_t kFiles = 8;
    static std::string path(std::uint32_t file) { return "clip" + std::to_string(file) + ".mov"; }

    struct Request {
        Duration at;
        std::uint32_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        IoTag tag;
    };
    std::vector<Request> requests;
    std::uint64_t bytes = 0;

    Load(Prng& prng, std::size_t seats, int count) {
        std::uint64_t next[kFiles] = {};
        const std::uint64_t apart_us = 1 + prng.below(2000);
        std::int64_t us = 0;
        for (int i = 0; i < count; ++i) {
            us += static_cast<std::int64_t>(prng.below(apart_us));
            Request request{.at = microseconds(us)};
            request.file = static_cast<std::uint32_t>(prng.below(kFiles));
            request.bytes = 1 + prng.below(2 << 20);
            request.offset = prng.below(4) == 0 ? prng.below(1 << 30) : next[request.file];
            next[request.file] = request.offset + request.bytes;
            request.tag.seat = static_cast<std::uint32_t>(prng.below(seats));
            request.tag.stream = request.file;
            request.tag.slot = static_cast<std::uint64_t>(i);
            bytes += request.bytes;
            requests.push_back(request);
        }
    }
};

/// The load on a cluster, to the end.
class Loaded {
public:
    Loaded(const sim::ClusterOptions& options, const Load& load) : run_(options) {
        for (std::uint32_t i = 0; i < Load::kFiles; ++i) files_.push_back(run_.open(Load::path(i)));
        origin_ = run_.loop.now();
        for (const Load::Request& request : load.requests) {
            Step& step = steps_.emplace_back(Step{this, &request});
            run_.loop.at(origin_ + request.at, Callback::of<&Step::submit>(&step));
        }
        run_.loop.run();
    }

    /// From the first request to the completion of the last.
    Duration whole() const {
        Instant last;
        for (const ReadOp& op : run_.reads) last = std::max(last, op.completed_at);
        return last - origin_;
    }
    /// The sum of all response times.
    double sum_s() const {
        double sum = 0;
        for (const ReadOp& op : run_.reads) sum += static_cast<double>((op.completed_at - op.submitted_at).ns);
        return sum * 1e-9;
    }
    std::vector<std::int64_t> times() const {
        std::vector<std::int64_t> times;
        for (const ReadOp& op : run_.reads) times.push_back(op.completed_at.ns);
        return times;
    }
    SimRun& run() { return run_; }
    /// When the first request came: all files were open.
    Instant origin() const { return origin_; }

private:
    struct Step {
        Loaded* loaded;
        const Load::Request* request;
        void submit() {
            loaded->run_.read(loaded->files_[request->file], request->offset, request->bytes, request->tag);
        }
    };

    SimRun run_;
    Instant origin_;
    std::vector<FileId> files_;
    std::deque<Step> steps_;
};

}  // namespace streamsim::test
