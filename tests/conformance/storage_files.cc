#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/prng.h"
#include "conformance/storage_backends.h"
#include "storage/local_byte_store.h"

namespace streamsim {

TemporaryDirectory::TemporaryDirectory() : path_(testing::TempDir() + "streamsim-storage-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary directory at " << path_;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::byte test_byte(std::uint64_t seed, std::uint64_t offset) {
    return static_cast<std::byte>(mix64(seed ^ (offset / 8)) >> (offset % 8 * 8));
}

void write_test_file(const std::string& path, std::uint64_t seed, std::uint64_t bytes) {
    std::vector<std::byte> content(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) content[i] = test_byte(seed, i);
    const auto store = make_local_byte_store();
    auto sink = store->create(path);
    ASSERT_TRUE(sink) << sink.error().problems.front();
    ASSERT_TRUE((*sink)->write_at(0, content));
    ASSERT_TRUE((*sink)->close());
}

std::uint64_t same_bytes(std::span<const std::byte> bytes, std::uint64_t seed, std::uint64_t offset) {
    for (std::uint64_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != test_byte(seed, offset + i)) return i;
    }
    return bytes.size();
}

}  // namespace streamsim
