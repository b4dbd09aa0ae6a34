#include "cli/commands.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>

#include "base/units.h"
#include "media/media_set.h"

namespace streamsim {

int report_error(CliContext& context, const Error& error) {
    for (const std::string& problem : error.problems) context.log.error("{}", problem);
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

int clean_command(CliContext& context, const CliOptions& options) {
    const auto store = make_byte_store(options.play.target, options.play.credentials);
    if (store == nullptr) return report_error(context, bad_input("clean needs a directory: expected a path"));
    const auto cleaned = clean(*store, options.play.target.name());
    if (!cleaned) return report_error(context, cleaned.error());
    for (const std::string& kept : cleaned->kept) context.log.warn("{}: not made by prepare, kept", kept);
    if (!options.quiet) {
        fmt::print("removed {} files, {}, from {}/{}\n", show_count(cleaned->files_removed),
                   show_bytes(cleaned->bytes_removed), options.play.target.name(), kMediaDirectory);
    }
    return kExitPass;
}

}  // namespace streamsim
