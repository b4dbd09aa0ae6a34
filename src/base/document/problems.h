// The problems of one input, bounded: a hostile document must not turn into a million messages, nor into one
// message of megabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace streamsim {

/// Problems beyond this number are counted, and their text is dropped.
inline constexpr std::size_t kProblemsMax = 20;
/// A list with so many problems is not read any further.
inline constexpr std::size_t kProblemsEnough = 1000;
/// A longer message loses its middle.
inline constexpr std::size_t kProblemBytesMax = 1000;

/// `text`, or its begin and its end with "..." between them where it is longer than `bytes_max`. Never half of
/// a UTF-8 character.
std::string shortened(std::string_view text, std::size_t bytes_max = kProblemBytesMax);

class ProblemList {
public:
    /// `source` begins the last line, "and N more problems".
    explicit ProblemList(std::string source = {}) : source_(std::move(source)) {}

    void add(std::string_view problem);
    /// All problems of another input.
    void add(const Error& error);
    /// Counts problems beyond the limit too, whose text is not kept.
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    bool enough() const { return count_ >= kProblemsEnough; }
    /// Bad input with the first problems, and how many more there are. REQUIRES: !empty().
    Error error() const;

private:
    std::string source_;
    std::vector<std::string> problems_;
    std::size_t count_ = 0;
};

}  // namespace streamsim
