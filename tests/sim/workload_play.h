// A workload document played by meters on a model in virtual time, and its figures as they are printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "load/meter.h"
#include "loop/virtual_loop.h"
#include "scenario/workload_document.h"
#include "scenario/workload_steps.h"
#include "sim/cluster/cluster.h"
#include "sim/model/model_document.h"

namespace streamsim::test {

inline std::string shipped(const std::string& path) {
    std::ifstream in(STREAMSIM_SOURCE_DIR "/formats/" + path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_FALSE(text.str().empty()) << path;
    return text.str();
}

inline Workload shipped_workload(const std::string& name) {
    auto workload = scenario::read_workload(shipped("workload/" + name + ".json"), name);
    EXPECT_TRUE(workload) << (workload ? "" : workload.error().problems.front());
    return workload ? *workload : Workload{};
}

/// sim:MODEL?nodes=N&cache=warm, of a cluster of its own size.
struct OnModel {
    std::string model;
    std::uint32_t nodes = 1;
    bool warm = false;
    std::uint32_t cluster = 0;  // 0: the model's own size
};

struct LoadFigures {
    double read_bytes_per_s = 0;
    double write_bytes_per_s = 0;
    double operations_per_s = 0;  // complete within the time
    double latency_ms = 0;        // mean, from the intended times
    std::uint64_t failed = 0;
    std::vector<MeterResult> meters;
    std::vector<PartStats> parts;
};

class WorkloadPlay {
public:
    WorkloadPlay(const Workload& step, const OnModel& on) : step_(step) {
        auto model = sim::read_model_document(shipped("storage/" + on.model + ".json"), on.model);
        EXPECT_TRUE(model);
        sim::ClusterOptions options;
        options.model = *model;
        if (on.cluster > 0) options.model.nodes = on.cluster;
        options.warm = on.warm;
        for (std::uint32_t i = 0; i < step.clients; ++i) options.seats.push_back({i % on.nodes, {}});
        cluster_ = std::make_unique<sim::Cluster>(loop_, std::move(options));
        storage_ = cluster_->make_storage();
        for (std::uint32_t seat = 0; seat < step.clients; ++seat) {
            std::uint32_t stream = 0;
            for (std::size_t i = 0; i < step.meters.size(); ++i) {
                add(step.meters[i], i, seat, stream);
                stream += step.meters[i].users;
            }
        }
    }

    LoadFigures run() {
        for (const auto& meter : meters_) meter->prepare();
        loop_.run();
        from_ = loop_.now();
        for (const auto& meter : meters_) meter->play(from_, from_ + step_.duration);
        loop_.run();
        LoadFigures all;
        std::int64_t latency_ns = 0;
        std::uint64_t done = 0;
        const double s = static_cast<double>(step_.duration.ns) * 1e-9;
        for (const auto& meter : meters_) {
            EXPECT_TRUE(meter->finished());
            MeterResult& result = all.meters.emplace_back(meter->result());
            done += result.all.done;
            latency_ns += result.all.response_sum_ns;
            all.failed += result.all.failed;
            all.read_bytes_per_s += bytes(result, LoadOperation::read) / s;
            all.write_bytes_per_s += bytes(result, LoadOperation::write) / s;
        }
        all.operations_per_s = static_cast<double>(done) / s;
        all.latency_ms = done > 0 ? static_cast<double>(latency_ns) * 1e-6 / static_cast<double>(done) : 0;
        all.parts = cluster_->stats(from_, from_ + step_.duration);
        return all;
    }

private:
    static double bytes(const MeterResult& result, LoadOperation operation) {
        return static_cast<double>(result.operations[static_cast<std::size_t>(operation)].bytes);
    }

    void add(const MeterSpec& spec, std::size_t number, std::uint32_t seat, std::uint32_t first_stream) {
        load::MeterPlan& plan = plans_.emplace_back();
        plan.spec = spec;
        plan.seat = seat;
        plan.seats = step_.clients;
        plan.first_user = seat * spec.users;
        plan.first_stream = first_stream;
        plan.seed = derive_seed(11, number);
        plan.names = load::working_set(spec, "media/" + spec.name, seat);
        for (const std::string& path : plan.names.files) cluster_->add_file(path.c_str(), spec.set.file_bytes);
        for (const std::string& path : plan.names.spare) cluster_->add_file(path.c_str(), 0);
        memory_.emplace_back(load::Meter::memory_bytes(plan));
        meters_.push_back(std::make_unique<load::Meter>(loop_, *storage_, plan, memory_.back(),
                                                        Callback{[](void*) {}, nullptr}));
    }

    const Workload step_;
    loop::VirtualLoop loop_;
    std::unique_ptr<sim::Cluster> cluster_;
    std::unique_ptr<Storage> storage_;
    std::deque<load::MeterPlan> plans_;
    std::deque<std::vector<std::byte>> memory_;
    std::vector<std::unique_ptr<load::Meter>> meters_;
    Instant from_;
};

}  // namespace streamsim::test
