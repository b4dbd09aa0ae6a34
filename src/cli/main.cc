#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/help/help.h"
#include "cli/last_resort.h"
#include "cli/options/command_line.h"
#include "cli/play/ranks_run.h"
#include "cli/process/system.h"
#include "cli/process/version.h"
#include "run/backends/missing_parts.h"
#include "run/process/control.h"
#include "seats/mpi_start.h"

namespace streamsim::cli {
namespace {

std::string version_text() {
    const run::BuiltIn parts = run::built_in();
    std::string text = fmt::format("streamsim {} ({})\nstorage backends: {}\n", version(), revision(),
                                   fmt::join(parts.backends, ", "));
    if (parts.mpi) text += fmt::format("MPI: {}\n", seats::mpi_version());
    if (const auto missing = run::missing_parts(parts); !missing.empty())
        text += fmt::format("not built in: {}\n", fmt::join(missing, ", "));
    return text;
}

/// Commands that only print: an interruption loses nothing.
constexpr Commands kPrint = Command::formats | Command::report | Command::man | Command::completions;
/// Commands that one process does for all that were started together.
constexpr Commands kForOne =
    kPrint | Command::inspect | Command::clean | Command::profile | Command::plan | Command::host;

/// True where the command writes to standard output.
bool needs_standard_output(const CliOptions& options) {
    if (options.files.take_standard_output() || options.output == "-") return true;
    switch (options.command) {
        case Command::formats:
        case Command::inspect: return options.files.json.empty();
        case Command::man:
        case Command::completions: return true;
        case Command::profile: return options.output.empty() || !options.quiet;
        default: return !options.quiet;
    }
}

/// Fewer descriptors, and libraries end the process by a signal.
Result<void> descriptors_suffice() {
    constexpr std::size_t kNeeded = 24;
    const std::size_t free = free_descriptors(kNeeded);
    if (free >= kNeeded) return {};
    return environment_error(
        fmt::format("only {} file descriptors are free, and streamsim needs {} at least: raise `ulimit -n`",
                    free, kNeeded));
}

int print(const std::string& text) {
    print_text(stdout, text);
    return kExitPass;
}

int do_command(CommandContext& context) {
    switch (context.options.command) {
        case Command::play: return play_command(context);
        case Command::prepare: return prepare_command(context);
        case Command::max: return max_command(context);
        case Command::calibrate: return calibrate_command(context);
        case Command::predict: return predict_command(context);
        case Command::report: return report_command(context);
        case Command::run: return run_command(context);
        case Command::host: return host_command(context);
        case Command::join: return join_command(context);
        case Command::formats: return formats_command(context);
        case Command::inspect: return inspect_command(context);
        case Command::plan: return plan_command(context);
        case Command::profile: return profile_command(context);
        case Command::clean: return clean_command(context);
        case Command::man: return print(man_page(context.program.version));
        case Command::completions: return print(completions(context.options.name));
    }
    return kExitBadInput;
}

/// REQUIRES: context.program.command, which is the command line.
int run_words(CliContext& context, run::Control& control) {
    std::vector<const char*> words;
    for (const std::string& word : context.program.command) words.push_back(word.c_str());
    const bool speaks = context.ranks == nullptr || context.ranks->first();
    auto parsed = parse_command_line(static_cast<int>(words.size()), words.data(), speaks);
    if (context.ranks != nullptr) {
        if (auto agreed = agree_on_command(context, control, parsed); !agreed)
            return report_error(context, agreed.error());
    }
    if (!parsed) return report_error(context, parsed.error());
    if (speaks && (parsed->answer || needs_standard_output(parsed->options)) && !standard_output_is_open())
        return report_error(context, environment_error("standard output is closed, and the result goes there: "
                                                       "open it, or give --quiet and --json FILE"));
    if (parsed->answer && !speaks) return kExitPass;
    if (parsed->answer)
        return print(*parsed->answer == Answer::help ? help_text(parsed->options.command) : version_text());
    const bool for_one = kForOne.has(parsed->options.command) || parsed->options.command == Command::join;
    if (const auto known = seats::check_launcher(); !known && !for_one && context.ranks == nullptr)
        return report_error(context, known.error());
    if (parsed->options.verbosity >= 2 && speaks) context.log.set_level(spdlog::level::debug);
    context.program.project = parsed->options.project;
    CommandContext of_command{context, control, parsed->options, run_words};
    return do_command(of_command);
}

int run_line(CliContext& context, Command command) {
    // Signals are handled from the first moment; they end a command that only prints at once.
    run::ControlOptions ends;
    if (kPrint.has(command)) ends.timeout = {};
    ends.leave = [] { end_at_once(kExitInterrupted, "interrupted"); };
    ends.failed = end_after;
    // Never deleted: a signal that comes while the process ends must not kill it.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static run::Control& control = *new run::Control(ends);
    return run_words(context, control);
}

/// Shows the control characters of a message, so that a terminal obeys none of them.
class PrintableSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit PrintableSink(spdlog::color_mode colours) : terminal_(colours) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const std::string text = printable({message.payload.data(), message.payload.size()});
        spdlog::details::log_msg shown = message;
        shown.payload = text;
        terminal_.log(shown);
    }
    void flush_() override { terminal_.flush(); }
    void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
        terminal_.set_formatter(std::move(formatter));
    }

private:
    spdlog::sinks::stderr_color_sink_st terminal_;
};

int run(const std::vector<std::string>& words) {
    std::vector<const char*> pointers;
    pointers.reserve(words.size());
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const auto argc = static_cast<int>(pointers.size());
    const char* const* const argv = pointers.data();
    const auto rank = seats::mpi_place();
    if (rank) seats::expect_no_terminal();
    const auto colours = rank ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    spdlog::logger log("streamsim", std::make_shared<PrintableSink>(colours));
    log.set_pattern("%n: %^%v%$");
    CliContext context{log, {version(), revision(), words}};
    if (const auto enough = descriptors_suffice(); !enough) return report_error(context, enough.error());
    const auto command = command_of(argc, argv);
    if (!rank || command == Command::join) return run_line(context, command);
    if (kForOne.has(command)) return rank->rank > 0 ? kExitPass : run_line(context, command);
    auto ranks = seats::Ranks::begin();
    if (!ranks && ranks.error().kind == ErrorKind::interrupted) return kExitPass;  // rank 0 has said why
    if (!ranks) return report_error(context, ranks.error());
    context.ranks = ranks->get();
    if (!context.ranks->first()) log.set_level(spdlog::level::off);
    return context.ranks->finish(run_line(context, command));
}

}  // namespace
}  // namespace streamsim::cli

int main(int argc, char** argv) {
    using namespace streamsim::cli;
    install_last_resorts();
    const std::vector<std::string> words = begin_program(argc, argv);
    try {
        return final_code(run(words));
    } catch (...) {
        end_after(std::current_exception());
    }
}
