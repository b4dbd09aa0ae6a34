#include <gtest/gtest.h>
#include <uv.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/prng.h"
#include "conformance/storage_backends.h"
#include "storage/local/local_byte_store.h"

namespace streamsim {

TemporaryDirectory::TemporaryDirectory() : path_(testing::TempDir() + "streamsim-storage-XXXXXX") {
    uv_fs_t request{};
    const int result = uv_fs_mkdtemp(nullptr, &request, path_.c_str(), nullptr);
    if (result == 0) path_ = request.path;
    uv_fs_req_cleanup(&request);
    if (result != 0) ADD_FAILURE() << "no temporary directory at " << path_;
    std::replace(path_.begin(), path_.end(), '\\', '/');
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::byte test_byte(std::uint64_t seed, std::uint64_t offset) {
    return static_cast<std::byte>(mix64(seed ^ (offset / 8)) >> (offset % 8 * 8));
}

// Compares eight bytes at a time if aligned: tests are not optimised.
void fill_with_test_bytes(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t offset) {
    std::uint64_t i = 0;
    while (i < bytes.size()) {
        if ((offset + i) % 8 == 0 && bytes.size() - i >= 8) {
            const std::uint64_t word = mix64(seed ^ ((offset + i) / 8));
            std::memcpy(bytes.data() + i, &word, 8);
            i += 8;
        } else {
            bytes[i] = test_byte(seed, offset + i);
            ++i;
        }
    }
}

void write_test_file(const std::string& path, std::uint64_t seed, std::uint64_t bytes) {
    std::vector<std::byte> content(bytes);
    fill_with_test_bytes(content, seed, 0);
    const auto store = storage::make_local_byte_store();
    auto sink = store->create(path);
    ASSERT_TRUE(sink) << sink.error().problems.front();
    ASSERT_TRUE((*sink)->write_at(0, content));
    ASSERT_TRUE((*sink)->close());
}

std::uint64_t same_bytes(std::span<const std::byte> bytes, std::uint64_t seed, std::uint64_t offset) {
    std::vector<std::byte> expected(bytes.size());
    fill_with_test_bytes(expected, seed, offset);
    if (std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0) return bytes.size();
    const auto differs = std::mismatch(bytes.begin(), bytes.end(), expected.begin()).first;
    return static_cast<std::uint64_t>(differs - bytes.begin());
}

}  // namespace streamsim
