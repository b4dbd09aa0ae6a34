// Every storage's contract, held against nfs-ganesha: versions 3 and 4, one connection and four. The server has
// a network of its own, which this program joins.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <filesystem>

#include "conformance/storage_backends.h"
#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "real/lab.h"
#include "real/nfs_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

/// The tests create files in the directory that the server exports under another name.
class Exported final : public StorageDecorator {
public:
    using StorageDecorator::StorageDecorator;
    void open(OpenOp& op) override {
        op.path = names_.emplace_back(tests::exported(op.path)).c_str();
        StorageDecorator::open(op);
    }
    void perform(PathOp& op) override {
        op.path = names_.emplace_back(tests::exported(op.path)).c_str();
        if (op.to != nullptr) op.to = names_.emplace_back(tests::exported(op.to)).c_str();
        StorageDecorator::perform(op);
    }

private:
    std::deque<std::string> names_;
};

template <std::uint32_t version, std::uint32_t connections>
std::unique_ptr<StorageHarness> make_nfs(const Backend&, const HarnessOptions& options, std::string& why_not) {
    auto harness = std::make_unique<Harness<loop::UvLoop>>();
    storage::RemoteOptions remote;
    remote.parallel_reads = options.parallel_reads;
    remote.parallel_opens = options.parallel_opens;
    auto storage = storage::make_nfs_storage(harness->loop(), harness->own_loop().uv(),
                                             tests::nfs_place(version, connections), "/export", remote);
    if (!storage) {
        why_not = storage.error().problems.front();
        ADD_FAILURE() << why_not;
        return nullptr;
    }
    harness->use(std::make_unique<Exported>(std::move(*storage)));
    return harness;
}

}  // namespace

std::vector<Backend> all_backends() {
    return {
        {"nfs_v3", true, true, true, false, false, make_nfs<3, 1>, false},
        {"nfs_v3_by_four_connections", true, true, true, false, false, make_nfs<3, 4>, false},
        {"nfs_v4", true, true, true, false, false, make_nfs<4, 1>, false},
        {"nfs_v4_by_four_connections", true, true, true, false, false, make_nfs<4, 4>, false},
    };
}

/// Version 4 only reads.
std::vector<Backend> writing_backends() {
    std::vector<Backend> all = all_backends();
    std::erase_if(all, [](const Backend& each) { return each.name.starts_with("nfs_v4"); });
    return all;
}

namespace tests {
namespace {
Lab* the_lab = nullptr;
}

RemotePlace nfs_place(std::uint32_t version, std::uint32_t connections) {
    RemotePlace place;
    place.host = "127.0.0.1";
    place.version = version;
    place.connections = connections;
    return place;
}

std::uint16_t nfs_port() {
    return the_lab->facts()["server"]["nfs_port"];
}

std::uint16_t nfs_mount_port() {
    return the_lab->facts()["server"]["mount_port"];
}

void kill_server() {
    the_lab->kill("nfs");
}

void start_server() {
    the_lab->start("nfs");
}

std::string exported(const std::string& path) {
    const std::string root = the_lab->local();
    return path.starts_with(root) ? "/export/" + path.substr(root.size()) : path;
}

}  // namespace tests

namespace {

/// Returns the error of opening an existing name, which is not changed.
int error_of_opening(const std::string& path, Access access) {
    Harness<loop::UvLoop> harness;
    auto storage = storage::make_nfs_storage(harness.loop(), harness.own_loop().uv(), tests::nfs_place(3, 1),
                                             "/export", storage::RemoteOptions{});
    if (!storage) return -1;
    harness.use(std::move(*storage));
    const std::string name = tests::exported(path);
    TestOpen open;
    open.path = name.c_str();
    open.access = access;
    harness.storage().open(open);
    harness.loop().run();
    harness.shut_down({});
    return open.error;
}

TEST(NfsWrites, GoThroughNoLinkAndIntoNoFileWithASecondName) {
    namespace fs = std::filesystem;
    const TemporaryDirectory directory;
    write_test_file(directory / "film", 5, 1000);
    fs::create_symlink("film", directory / "symbolic");
    fs::create_symlink("nothing", directory / "dangling");
    fs::create_hard_link(directory / "film", directory / "hard");
    write_test_file(directory / "ours", 5, 1000);
    for (const Access access : {Access::write, Access::create}) {
        EXPECT_EQ(error_of_opening(directory / "symbolic", access), ELOOP);
        EXPECT_EQ(error_of_opening(directory / "dangling", access), ELOOP);
        EXPECT_EQ(error_of_opening(directory / "hard", access), EMLINK);
        EXPECT_EQ(error_of_opening(directory / "ours", access), 0);
    }
    EXPECT_FALSE(fs::exists(directory / "nothing"));
    for (const char* name : {"symbolic", "hard"})
        EXPECT_EQ(error_of_opening(directory / name, Access::read), 0) << "media may be reached through links";
}

}  // namespace
}  // namespace streamsim

int main(int count, char** arguments) {
    return streamsim::tests::run_tests_in_lab(count, arguments, {"--nfs", "--loopback"},
                                              streamsim::tests::the_lab);
}
