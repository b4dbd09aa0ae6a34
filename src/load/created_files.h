// The files of a user that may be removed and renamed: spare files, and files that the user created.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace streamsim::load {

/// A file of the user, in one of its directories.
struct CreatedFile {
    std::uint64_t number = 0;  // among the created files, or among the spare ones
    std::uint32_t directory = 0;
    bool spare = false;
};

/// First in, first out. Memory grows when there are more files than ever before.
class CreatedFiles {
public:
    std::size_t size() const { return size_; }

    void push(const CreatedFile& file) {
        if (size_ == ring_.size()) grow();
        ring_[(first_ + size_++) & (ring_.size() - 1)] = file;
    }

    /// REQUIRES: size() > 0.
    CreatedFile pop() {
        STREAMSIM_CHECK(size_ > 0, "there is a file to take");
        const CreatedFile file = ring_[first_];
        first_ = (first_ + 1) & (ring_.size() - 1);
        --size_;
        return file;
    }

    /// REQUIRES: index < size().
    const CreatedFile& operator[](std::size_t index) const {
        return ring_[(first_ + index) & (ring_.size() - 1)];
    }

private:
    void grow() {
        std::vector<CreatedFile> larger(ring_.empty() ? 16 : ring_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
        ring_.swap(larger);
        first_ = 0;
    }

    std::vector<CreatedFile> ring_;  // a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace streamsim::load
