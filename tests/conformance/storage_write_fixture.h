// The fixture of the tests of writes.
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/storage_fixture.h"

namespace streamsim {

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The number of bytes of the text that equal the test file from `offset` on.
inline std::uint64_t same_text(std::string_view text, std::uint64_t seed, std::uint64_t offset) {
    return same_bytes(std::as_bytes(std::span(text)), seed, offset);
}

class WriteConformance : public StorageConformance {
protected:
    /// Creates a file and opens it for writing.
    FileId create_now(const std::string& name) { return open_now(directory_ / name, Access::create); }

    void write_now(FileId file, std::uint64_t offset, std::span<const std::byte> from) {
        TestWrite op;
        begin_write(op, file, offset, from);
        EXPECT_EQ(op.callbacks, 0) << "not inside the call";
        wait();
        EXPECT_EQ(op.callbacks, 1);
        EXPECT_EQ(op.error, 0);
        EXPECT_EQ(op.bytes, from.size());
    }
};

inline std::vector<Backend> writing(bool (*fit)(const Backend&)) {
    std::vector<Backend> fitting = writing_backends();
    std::erase_if(fitting, [fit](const Backend& each) { return !fit(each); });
    return fitting;
}

}  // namespace streamsim
