// Compares a text with a file of tests/golden/. STREAMSIM_UPDATE_GOLDEN=1 writes the file instead, for a reader
// to check with git diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace streamsim::report {

inline std::string read_whole(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void expect_golden(const std::string& text, const std::string& name) {
    const std::string path = std::string(STREAMSIM_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("STREAMSIM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    EXPECT_EQ(text, read_whole(path)) << path << "; to accept it: STREAMSIM_UPDATE_GOLDEN=1";
}

}  // namespace streamsim::report
