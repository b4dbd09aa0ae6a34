#include "cli/output/cli_context.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/utf8.h"
#include "cli/output/output_file.h"
#include "view/live_view.h"

namespace streamsim::cli {

namespace {

int first_error_of_stdout = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): as stdout's own

}  // namespace

void print_text(std::FILE* to, std::string_view text) {
    const std::string shown = printable_lines(text, view::LiveView::colours_wanted(fileno(to)));
    const bool whole = std::fwrite(shown.data(), 1, shown.size(), to) == shown.size() && std::fflush(to) == 0;
    if (!whole && to == stdout && first_error_of_stdout == 0) first_error_of_stdout = errno;
}

int final_code(int code) {
    if (std::fflush(stdout) != 0 && first_error_of_stdout == 0) first_error_of_stdout = errno;
    if (first_error_of_stdout == 0) return code;
    std::fprintf(stderr, "streamsim: standard output cannot be written: %s\n",
                 std::strerror(first_error_of_stdout));
    return code == kExitPass || code == kExitMissed ? kExitCannotRun : code;
}

int report_error(CliContext& context, const Error& error) {
    for (const std::string& problem : error.problems) context.log.error(problem);
    switch (error.kind) {
        case ErrorKind::bad_input: return kExitBadInput;
        case ErrorKind::environment: return kExitCannotRun;
        case ErrorKind::interrupted: return kExitInterrupted;
    }
    return kExitCannotRun;
}

Result<void> write_document(const std::string& path, std::string_view begins_with, const std::string& text) {
    auto file = OutputFile::prepare(path, begins_with);
    if (!file) return file.error();
    file->write(text);
    return file->finish();
}

std::uint64_t nearest_whole(double value) {
    return static_cast<std::uint64_t>(std::llround(value));
}

}  // namespace streamsim::cli
