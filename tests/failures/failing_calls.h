// failing_calls.cc, linked into a program: it fails its own calls, and not those of its children.
#pragma once

#include <cstdint>

/// Calls of the family count from zero, and call `at` fails: "error", "broken" or "short"; with the errno
/// `error`, or, if that is 0, with one that the call can have. It begins paused.
void failing_calls_begin(const char* family, std::uint64_t at, const char* how, int error);
void failing_calls_pause(bool paused);
std::uint64_t failing_calls_count();
/// The call that failed; empty: none did.
const char* failing_calls_failed();
