// A file that a result goes to, named by the user. Nothing of his is lost: an existing file is replaced only
// when it holds an earlier result of the same kind, and only by a whole new one.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim {

class OutputFile {
public:
    /// `path` "-" is standard output. `begins_with` is how an earlier result of this kind begins. Looks at what
    /// is there and tries whether it can be written. Errors: bad input when another kind of file is there;
    /// environment when the place cannot be written.
    static Result<OutputFile> prepare(const std::string& path, std::string_view begins_with);

    OutputFile() = default;
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&& other) noexcept;
    ~OutputFile();

    bool wanted() const { return !path_.empty(); }
    bool standard_output() const { return path_ == "-"; }

    /// Appends. Errors are kept for finish().
    void write(std::string_view text);
    /// What was written takes the place of what was there.
    Result<void> finish();

private:
    std::string path_;
    std::string temporary_;  // empty: written in place (standard output, a device, a pipe)
    std::FILE* file_ = nullptr;
    int error_ = 0;
};

}  // namespace streamsim
