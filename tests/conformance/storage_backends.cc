#include "conformance/storage_backends.h"

#include <algorithm>

#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "loop/virtual_loop.h"
#include "sim/cluster/cluster.h"
#include "storage/backends.h"
#include "storage/fault/fault_storage.h"
#include "storage/local/local_options.h"
#include "storage/null_storage.h"

namespace streamsim {
namespace {

using Made = std::unique_ptr<StorageHarness>;

template <typename Loop>
Made make_null(const Backend&, const HarnessOptions&, std::string&) {
    auto harness = std::make_unique<Harness<Loop>>();
    harness->use(std::make_unique<storage::NullStorage>(harness->loop(), "null"));
    return harness;
}

// One seat on two nodes in which everything takes its time.
class ClusterHarness final : public StorageHarness {
public:
    ClusterHarness() : cluster_(loop_, options()), storage_(cluster_.make_storage()) {}
    EventLoop& loop() override { return loop_; }
    Storage& storage() override { return *storage_; }
    void shut_down(Callback at_done) override {
        shut_down_and_wait(loop_, *storage_, at_done);
        storage_.reset();
    }

private:
    static sim::ClusterOptions options() {
        sim::ClusterOptions options;
        options.model.nodes = 2;
        options.model.node.drives = 2;
        options.model.node.ram_bytes = 2 << 20;
        options.model.node.front_end = {10e9, 1, microseconds(50)};
        options.model.drive.kind = DriveModel::Kind::flash;
        options.model.drive.outer_bytes_per_s = 1e9;
        options.model.client.cpu_s_per_request = 1e-6;
        options.seats.emplace_back();
        return options;
    }

    loop::VirtualLoop loop_;
    sim::Cluster cluster_;
    std::unique_ptr<Storage> storage_;
};

Made make_cluster(const Backend&, const HarnessOptions&, std::string&) {
    return std::make_unique<ClusterHarness>();
}

template <auto Make, bool direct>
Made make_local(const Backend&, const HarnessOptions& options, std::string& why_not) {
    auto harness = std::make_unique<Harness<loop::UvLoop>>();
    storage::LocalOptions local;
    local.direct = direct;
    local.parallel_reads = options.parallel_reads;
    local.parallel_opens = options.parallel_opens;
    local.writes_below = options.writes_below;
    auto storage = Make(harness->loop(), harness->own_loop().uv(), local);
    if (!storage) {
        why_not = storage.error().problems.front();
        return nullptr;
    }
    harness->use(std::move(*storage));
    return harness;
}

// Every operation takes the long way through the fault storage: a delay, and a timer.
class FaultHarness final : public StorageHarness {
public:
    FaultHarness(EventLoop& loop, Made inner) : inner_(std::move(inner)) {
        storage::FaultPlan plan;
        plan.rules.emplace_back().delay = microseconds(1);
        faults_ = std::make_unique<storage::FaultStorage>(
            loop, std::make_unique<Borrowed>(loop, inner_->storage()), std::move(plan), 1, 4);
    }
    EventLoop& loop() override { return inner_->loop(); }
    Storage& storage() override { return *faults_; }
    void shut_down(Callback at_done) override {
        shut_down_and_wait(inner_->loop(), *faults_, at_done);
        faults_.reset();
        inner_->shut_down({});
    }

private:
    // Leaves the shutdown of the storage below to its own harness.
    class Borrowed final : public Storage {
    public:
        Borrowed(EventLoop& loop, Storage& storage) : loop_(loop), storage_(storage) {}
        void open(OpenOp& op) override { storage_.open(op); }
        void read(ReadOp& op) override { storage_.read(op); }
        void write(WriteOp& op) override { storage_.write(op); }
        void sync(SyncOp& op) override { storage_.sync(op); }
        void perform(PathOp& op) override { storage_.perform(op); }
        void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override {
            storage_.hint(file, offset, bytes);
        }
        void close(FileId file) override { storage_.close(file); }
        void cancel(Op& op) override { storage_.cancel(op); }
        StorageCapabilities capabilities() const override { return storage_.capabilities(); }
        void use_memory(std::span<std::byte> memory) override { storage_.use_memory(memory); }
        void shutdown(Callback done) override { loop_.defer(done); }

    private:
        EventLoop& loop_;
        Storage& storage_;
    };

    Made inner_;
    std::unique_ptr<storage::FaultStorage> faults_;
};

template <auto Inner>
Made make_faults(const Backend& backend, const HarnessOptions& options, std::string& why_not) {
    Made inner = Inner(backend, options, why_not);
    if (inner == nullptr) return nullptr;
    EventLoop& loop = inner->loop();
    return std::make_unique<FaultHarness>(loop, std::move(inner));
}

bool is_built_in(const std::string& name) {
    const std::vector<std::string> all = storage::storage_compiled_in();
    return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

std::vector<Backend> all_backends() {
    storage::size_thread_pool(20);  // GoogleTest asks for the backends before main(): nothing has used the pool
    constexpr auto kNullVirtual = make_null<loop::VirtualLoop>;
    constexpr auto kNullReal = make_null<loop::UvLoop>;
    constexpr auto kUring = make_local<storage::make_uring_storage, true>;
    constexpr auto kUringBuffered = make_local<storage::make_uring_storage, false>;
    constexpr auto kIocp = make_local<storage::make_iocp_storage, true>;
    constexpr auto kIocpBuffered = make_local<storage::make_iocp_storage, false>;
    constexpr auto kThreads = make_local<storage::make_threads_storage, true>;
    constexpr auto kThreadsBuffered = make_local<storage::make_threads_storage, false>;
    std::vector<Backend> all{
        {"null_in_virtual_time", false, false, false, false, false, kNullVirtual},
        {"null_in_real_time", false, true, false, false, false, kNullReal},
        {"cluster", false, false, true, false, false, make_cluster},
        {"uring", true, true, true, true, false, kUring},
        {"uring_buffered", true, true, true, false, false, kUringBuffered},
        {"iocp", true, true, false, true, false, kIocp},
        {"iocp_buffered", true, true, false, false, false, kIocpBuffered},
        {"threads", true, true, false, true, false, kThreads},
        {"threads_buffered", true, true, false, false, false, kThreadsBuffered},
        {"faults_over_null_in_virtual_time", false, false, false, false, true, make_faults<kNullVirtual>},
        {"faults_over_null_in_real_time", false, true, false, false, true, make_faults<kNullReal>},
        {"faults_over_cluster", false, false, true, false, true, make_faults<make_cluster>},
        {"faults_over_uring", true, true, true, true, true, make_faults<kUring>},
        {"faults_over_iocp", true, true, false, true, true, make_faults<kIocp>},
        {"faults_over_threads", true, true, false, true, true, make_faults<kThreads>},
    };
    for (const char* system_own : {"uring", "iocp"}) {
        if (is_built_in(system_own)) continue;
        std::erase_if(
            all, [system_own](const Backend& each) { return each.name.find(system_own) != std::string::npos; });
    }
    return all;
}

std::vector<Backend> writing_backends() {
    std::vector<Backend> all = all_backends();
    std::erase_if(all, [](const Backend& each) { return each.name.ends_with("cluster"); });
    return all;
}

}  // namespace streamsim
