#include "cli/commands/commands.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include "base/units.h"
#include "base/utf8.h"
#include "cli/media/media_locks.h"
#include "media/own_files/own_names.h"
#include "media/write/media_lock.h"
#include "media/write/media_set.h"
#include "run/process/control.h"
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

namespace {

/// Cleans while nobody else uses the media set; `ended` comes false when a thread had to be left behind.
Result<media::CleanReport> clean_alone(CliContext& context,
                                       run::Control& control,
                                       const CliOptions& options,
                                       bool& ended) {
    const std::string target = options.play.target.name();
    const std::shared_ptr<ByteStore> store =
        run::make_byte_store(options.play.target, options.play.credentials);
    if (store == nullptr) return bad_input("clean needs a directory: expected a path");
    MediaLocks locks(context, control, options);
    const auto result = std::make_shared<std::optional<Result<media::CleanReport>>>();
    const auto run = [&](const std::function<Result<media::CleanReport>()>& function) {
        ended = control.run({[result, function] { result->emplace(function()); }, {}, {}});
        return ended && !control.interrupted();
    };
    const std::string root = media::media_root(target);
    const auto there = std::make_shared<bool>(false);
    const auto look = [store, root, there]() -> Result<media::CleanReport> {
        const auto found = media::media_set_is_there(*store, root);
        *there = found && (*found || media::media_set_is_begun(*store, root));
        return media::CleanReport{};
    };
    if (!run(look)) return interrupted_error();
    // Nothing is locked where there is no set of ours: clean says what is there.
    if (*there) {
        if (auto held = locks.hold_set(store, root, LockMode::exclusive); !held) {
            ended = !locks.left_behind();
            return held.error();
        }
    }
    const bool done = run([store, target] { return media::clean(*store, target); });
    if (!ended) locks.leave();
    if (!done) return interrupted_error();
    return std::move(**result);
}

}  // namespace

int clean_command(CliContext& context, run::Control& control, const CliOptions& options) {
    bool ended = true;
    const auto cleaned = clean_alone(context, control, options, ended);
    if (!cleaned) {
        const int code = report_error(context, cleaned.error());
        if (!ended) _exit(code);
        return code;
    }
    for (const std::string& kept : cleaned->kept) context.log.warn("{}: not made by prepare, kept", kept);
    if (!options.quiet) {
        print_text(stdout, fmt::format("removed {} files, {}, from {}/{}\n", show_count(cleaned->files_removed),
                                       show_bytes(cleaned->bytes_removed),
                                       printable(options.play.target.name()), media::kMediaDirectory));
    }
    return kExitPass;
}

}  // namespace streamsim::cli
