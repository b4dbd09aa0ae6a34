// The entry of libFuzzer, in the program of one target.
#include "fuzz/fuzz.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace streamsim::fuzz;
    run_target(targets().front(), std::as_bytes(std::span(data, size)));
    return 0;
}
