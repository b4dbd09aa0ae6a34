// The names of recordings and of the directories of runs. Inside media/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace streamsim::media {

/// "run-0123456789abcdef".
std::string run_name(std::uint64_t id);
bool is_run(std::string_view name);
/// "seat0-stream1".
bool is_recording(std::string_view name);
/// "seat0-stream1.mov".
bool is_recorded_file(std::string_view name);

}  // namespace streamsim::media
