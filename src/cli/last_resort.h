// The end of a process that cannot go on: without memory, without threads, or with a main thread that is
// blocked while the user wants to leave.
#pragma once

#include <exception>
#include <string_view>

namespace streamsim::cli {

/// Ends the process at once, from any thread, whatever the others are doing: gives the terminal back, removes
/// output files that are not whole, and says `sentence` on standard error where that takes it. Allocates
/// nothing.
[[noreturn]] void end_at_once(int code, std::string_view sentence);

/// Ends the process after an unexpected exception: exit code 3, with a sentence that says what is
/// short where the system has refused something, and that it is an internal error where not.
[[noreturn]] void end_after(const std::exception_ptr& exception);

/// From here on a lack of memory, and an exception that leaves a thread, end the process with exit code 3 and a
/// sentence. Once, first of all.
void install_last_resorts();

}  // namespace streamsim::cli
