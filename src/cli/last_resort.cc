#include "cli/last_resort.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/utf8.h"
#include "cli/output/cli_context.h"
#include "cli/output/output_file.h"
#include "view/screen.h"
#include "view/terminal.h"

namespace streamsim::cli {
namespace {

constexpr std::string_view kNoMemory =
    "the system gives no more memory (`ulimit -v`, a control group, or this computer's own)";

/// Names the resource that the system has refused, and how to give more of it; empty: no resource was refused.
std::string_view shortage(const std::error_code& code) {
    if (code == std::errc::not_enough_memory) return kNoMemory;
    if (code == std::errc::resource_unavailable_try_again)
        return "the system gives no more threads (`ulimit -u`, `ulimit -v`, or a control group's limit)";
    if (code == std::errc::too_many_files_open) return "no file descriptor is left (raise `ulimit -n`)";
    if (code == std::errc::too_many_files_open_in_system) return "this computer has too many files open";
    return {};
}

[[noreturn]] void on_terminate() {
    if (const auto exception = std::current_exception()) end_after(exception);
    // The destructor of a running std::thread ends here while an exception unwinds the stack.
    if (std::uncaught_exceptions() > 0)
        end_at_once(kExitCannotRun, "the system gives no more threads or memory");
    std::abort();
}

}  // namespace

void end_at_once(int code, std::string_view sentence) {
    view::Screen::give_back_at_once();
    remove_temporary_outputs();
    for (const std::string_view text : {std::string_view("streamsim: "), sentence, std::string_view("\n")})
        view::write_while_ready(STDERR_FILENO, text);
    _exit(code);
}

void end_after(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
        end_at_once(kExitCannotRun, kNoMemory);
    } catch (const std::system_error& error) {
        const std::string_view known = shortage(error.code());
        end_at_once(kExitCannotRun, known.empty() ? printable(error.what()) : known);
    } catch (const std::exception& error) {
        // An unexpected exception of a library is a bug; it must not look like a result.
        end_at_once(kExitCannotRun, "internal error: " + printable(error.what()));
    } catch (...) {
        end_at_once(kExitCannotRun, "internal error");
    }
}

void install_last_resorts() {
    std::set_new_handler([] { end_at_once(kExitCannotRun, kNoMemory); });
    std::set_terminate(on_terminate);
}

}  // namespace streamsim::cli
