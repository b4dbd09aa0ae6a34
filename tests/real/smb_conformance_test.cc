// Every storage's contract, held against Samba: one connection and four. The server has a network of its own,
// which this program joins.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "conformance/storage_backends.h"
#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "real/smb_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

/// The tests create files in the directory that the server exports under another name.
class Shared final : public StorageDecorator {
public:
    using StorageDecorator::StorageDecorator;
    void open(OpenOp& op) override {
        op.path = names_.emplace_back(tests::shared(op.path)).c_str();
        StorageDecorator::open(op);
    }

private:
    std::deque<std::string> names_;
};

template <std::uint32_t connections>
std::unique_ptr<StorageHarness> make_smb(const Backend&, const HarnessOptions&, std::string& why_not) {
    auto harness = std::make_unique<Harness<loop::UvLoop>>();
    storage::RemoteOptions remote;
    remote.credentials = tests::smb_user();
    auto storage = storage::make_smb_storage(harness->loop(), harness->own_loop().uv(),
                                             tests::smb_place(connections), "/media", remote);
    if (!storage) {
        why_not = storage.error().problems.front();
        ADD_FAILURE() << why_not;
        return nullptr;
    }
    harness->use(std::make_unique<Shared>(std::move(*storage)));
    return harness;
}

}  // namespace

/// Another process stamps the completions, and runs on when this one is stopped: its stamps are exact, as those
/// of injected completions.
std::vector<Backend> all_backends() {
    return {
        {"smb", true, true, false, false, true, make_smb<1>, false},
        {"smb_by_four_connections", true, true, false, false, true, make_smb<4>, false},
    };
}

std::vector<Backend> writing_backends() {
    return {};
}

namespace tests {
namespace {
Lab* the_lab = nullptr;
}

Lab& smb_lab() {
    return *the_lab;
}

RemotePlace smb_place(std::uint32_t connections) {
    RemotePlace place;
    place.protocol = RemotePlace::Protocol::smb;
    place.host = "127.0.0.1";
    place.connections = connections;
    return place;
}

std::uint16_t smb_port() {
    return the_lab->facts()["server"]["smb_port"];
}

Credentials smb_user() {
    const Json& server = the_lab->facts()["server"];
    return {server["user"], "", server["password"]};
}

std::string shared(const std::string& path) {
    const std::string root = the_lab->local();
    if (!path.starts_with(root)) return path;
    const auto directory = std::filesystem::path(path).parent_path();
    if (std::filesystem::is_directory(directory)) chmod(directory.c_str(), 0777);
    return "/media/" + path.substr(root.size());
}

}  // namespace tests
}  // namespace streamsim

int main(int count, char** arguments) {
    setenv("STREAMSIM_SMB_HELPER", STREAMSIM_SMB_BINARY, 1);
    return streamsim::tests::run_tests_in_lab(count, arguments, {"--smb", "--loopback"},
                                              streamsim::tests::the_lab);
}
