// A file that a result goes to, named by the user. No other file is lost: an existing file is replaced only
// when it holds an earlier result of the same kind and was there before the run, and only by a whole new one
// that is on the disk. A file that appears under its name meanwhile stays, and the result goes beside it. A
// symbolic link stays, and the file that it leads to is the result's.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/document/text_sink.h"
#include "base/result.h"
#include "cli/process/system.h"

namespace streamsim::cli {

class OutputFile {
public:
    /// `path` "-" is standard output, and so is /dev/stdout. `begins_with` is how an earlier result of this
    /// kind begins. Looks at what is there and tries whether it can be written. Errors: bad input when another
    /// kind of file is there; environment when the place cannot be written.
    static Result<OutputFile> prepare(const std::string& path, std::string_view begins_with);

    OutputFile() = default;
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&& other) noexcept;
    ~OutputFile();

    bool wanted() const { return !path_.empty(); }
    bool standard_output() const { return path_ == "-"; }
    const std::string& path() const { return path_; }
    /// An earlier result is there.
    bool replaces_a_result() const { return !in_place() && before_.bytes > 0; }
    /// Standard output, another descriptor, a pipe or a device: its reader may block the writer.
    bool in_place() const { return temporary_.empty(); }

    /// `progress` is called after each part that is written; a slow reader may block a part.
    void on_progress(std::function<void()> progress) { progress_ = std::move(progress); }
    /// Appends. Errors are kept for finish().
    void write(std::string_view text);
    /// The written file replaces the one that was there. If another file has appeared there since
    /// prepare(), or the one that was there has changed, both stay, and a sentence on standard error names the
    /// file that has the result instead. If it cannot be replaced both stay as well, and the error names that
    /// file. A whole file is never removed: the error names the temporary one where it can have no other name.
    Result<void> finish();
    /// The text that `write` hands on replaces the file that was there, as by finish(); more will follow, under
    /// the same name. If that file cannot be replaced a sentence says where the text is. In place: does
    /// nothing.
    Result<void> write_for_now(const std::function<void(const TextSink& sink)>& write);

    /// Errors: what was written last is whole, and not in the file that was asked for, which cannot be
    /// replaced.
    Result<void> in_its_place() const;

private:
    Result<void> close();
    Result<void> put_in_place();

    std::string path_;
    std::string temporary_;  // empty: written in place, see in_place()
    std::string kept_;       // whole, under the name of a temporary one: it could have no other
    std::string refusal_;    // why path_ is not the file that was asked for; empty: it may be replaced
    FileIdentity before_;    // of the file that has this name
    std::FILE* file_ = nullptr;
    int error_ = 0;
    std::function<void()> progress_;
};

/// Removes all output files that are not whole. For a process that ends at once: allocates nothing.
void remove_temporary_outputs();

}  // namespace streamsim::cli
