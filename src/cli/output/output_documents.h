// The documents that a command writes: one for each option that names a file.
#pragma once

#include <spdlog/logger.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/text_sink.h"
#include "cli/options/options.h"
#include "cli/output/output_file.h"

namespace streamsim::cli {

/// Called while documents are written.
struct WhileWriting {
    /// Before what may be large, all but --json, and after each part of it. `write_json` writes --json at once,
    /// where it would come later, as its reader may block the writer.
    std::function<void(const std::function<void()>& write_json)> at_large_part = [](const auto&) {};
    std::function<void()> before_blocking = [] {};   // before each file whose reader may block the writer
    std::function<void()> at_blocking_json = [] {};  // before --json that is one, and after each part of it
    std::function<void()> at_blocking_part = [] {};  // before and after each part of the others
};

template <typename Of>
class OutputDocuments {
public:
    struct Kind {
        Kind(std::string ResultFiles::*file,
             std::string_view begins,
             void (*writes)(const Of& of, const TextSink& sink))
            : name(file), begins_with(begins), write(writes) {}
        /// A kind whose document is made at once.
        Kind(std::string ResultFiles::*file, std::string_view begins, std::string (*text)(const Of&))
            : name(file),
              begins_with(begins),
              write([text](const Of& of, const TextSink& sink) { sink(text(of)); }) {}

        std::string ResultFiles::*name;  // empty: this document is not wanted
        std::string begins_with;         // the beginning of an earlier document of this kind
        std::function<void(const Of& of, const TextSink& sink)> write;
    };

    /// Tests that each file that was asked for can be written, and writes none. Errors: every problem, as
    /// OutputFile::prepare.
    static Result<OutputDocuments> prepare(const ResultFiles& files, const std::vector<Kind>& kinds);

    /// One of the files is standard output: what a person reads goes to standard error.
    bool standard_output() const {
        return any([](const OutputFile& file) { return file.standard_output(); });
    }
    /// Writes all; a file that cannot be written does not keep the others. Errors: every problem.
    /// Files that no reader can block are written first, --json before all others; see WhileWriting.
    Result<void> write(const Of& of, const WhileWriting& meanwhile = {});
    /// For a run that has measured nothing: files that have an earlier result keep it, and are not written any
    /// more. A sentence says so.
    void keep_earlier(spdlog::logger& log);
    /// Writes what is known so far to the files that another document can replace. Errors: every problem.
    Result<void> write_for_now(const Of& of);

private:
    struct Output {
        OutputFile file;
        Kind kind;
    };

    static void note(const Result<void>& done, Error& failed) {
        if (!done) std::ranges::copy(done.error().problems, std::back_inserter(failed.problems));
    }
    template <typename Condition>
    bool any(Condition condition) const {
        return std::any_of(outputs_.begin(), outputs_.end(),
                           [&](const Output& output) { return condition(output.file); });
    }

    std::vector<Output> outputs_;
};

template <typename Of>
Result<OutputDocuments<Of>> OutputDocuments<Of>::prepare(const ResultFiles& files,
                                                         const std::vector<Kind>& kinds) {
    OutputDocuments all;
    Error problems{ErrorKind::bad_input, {}};
    for (const Kind& kind : kinds) {
        const std::string& name = files.*kind.name;
        if (name.empty()) continue;
        auto file = OutputFile::prepare(name, kind.begins_with);
        if (file) {
            all.outputs_.push_back({std::move(*file), kind});
            continue;
        }
        if (file.error().kind == ErrorKind::environment) problems.kind = ErrorKind::environment;
        for (const std::string& problem : file.error().problems) problems.problems.push_back(problem);
    }
    if (!problems.problems.empty()) return problems;
    return all;
}

template <typename Of>
Result<void> OutputDocuments<Of>::write(const Of& of, const WhileWriting& meanwhile) {
    std::stable_partition(outputs_.begin(), outputs_.end(),
                          [](const Output& output) { return !output.file.in_place(); });
    Error failed{ErrorKind::environment, {}};
    const auto write_one = [&](Output& output, const std::function<void()>& at_part) {
        at_part();
        output.file.on_progress(at_part);
        output.kind.write(of, [&output](std::string_view piece) { output.file.write(piece); });
        note(output.file.finish(), failed);
    };
    const auto is_json = [](const Output& output) { return output.kind.name == &ResultFiles::json; };
    Output* blocking_json = nullptr;
    for (Output& output : outputs_) {
        if (is_json(output) && output.file.in_place()) blocking_json = &output;
    }
    const auto write_json = [&] {
        if (Output* const json = std::exchange(blocking_json, nullptr))
            write_one(*json, meanwhile.at_blocking_json);
    };
    for (Output& output : outputs_) {
        if (output.file.in_place()) {
            meanwhile.before_blocking();
            if (is_json(output))
                write_json();
            else
                write_one(output, meanwhile.at_blocking_part);
        } else if (is_json(output)) {
            write_one(output, [] {});
        } else {
            write_one(output, [&] { meanwhile.at_large_part(write_json); });
        }
    }
    return failed.problems.empty() ? Result<void>() : failed;
}

template <typename Of>
void OutputDocuments<Of>::keep_earlier(spdlog::logger& log) {
    std::string names;
    for (const Output& output : outputs_) {
        if (!output.file.replaces_a_result()) continue;
        names += (names.empty() ? "" : ", ") + output.file.path();
    }
    std::erase_if(outputs_, [](const Output& output) { return output.file.replaces_a_result(); });
    if (!names.empty()) log.warn("nothing was measured, and the earlier result stays: {}", names);
}

template <typename Of>
Result<void> OutputDocuments<Of>::write_for_now(const Of& of) {
    Error failed{ErrorKind::environment, {}};
    for (Output& output : outputs_) {
        const auto write = [&](const TextSink& sink) { output.kind.write(of, sink); };
        note(output.file.write_for_now(write), failed);
    }
    return failed.problems.empty() ? Result<void>() : failed;
}

}  // namespace streamsim::cli
