// The fixture of the tests that writes stay below one directory.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/storage_fixture.h"

namespace streamsim {

inline constexpr std::uint64_t kUserBytes = 64 * 1024;

/// A target with a media set, and a user's files beside it.
class BeneathConformance : public StorageConformance {
protected:
    void SetUp() override {
        std::filesystem::create_directories(set_ + "/load");
        std::filesystem::create_directory(user_);
        write_test_file(user_ + "/film", 5, kUserBytes);
        make({.writes_below = target_});
    }
    void TearDown() override {
        StorageConformance::TearDown();
        std::ifstream file(user_ + "/film", std::ios::binary);
        const std::string film{std::istreambuf_iterator<char>(file), {}};
        EXPECT_EQ(film.size(), kUserBytes);
        EXPECT_EQ(same_bytes(std::as_bytes(std::span(film)), 5, 0), kUserBytes) << "a user's file was written";
        std::size_t files = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(user_)) ++files;
        EXPECT_EQ(files, 1U) << "something was made or removed elsewhere";
    }
    /// Opens the file, and writes a block if the access allows it. Returns the error.
    int write_into(const std::string& path, Access access) {
        TestOpen open;
        begin_open(open, path, access);
        wait();
        if (open.error != 0) return open.error;
        TestWrite write;
        begin_write(write, open.file, 0, filled(0, 4096, 9, 0));
        wait();
        storage().close(open.file);
        wait();
        return write.error;
    }

    const std::string target_ = directory_ / "target";
    const std::string set_ = target_ + "/streamsim-media";
    const std::string user_ = directory_ / "user";
};

inline std::vector<Backend> local_writers() {
    return those([](const Backend& backend) { return backend.has_files && backend.is_local; });
}

}  // namespace streamsim
