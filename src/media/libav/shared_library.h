// Libraries that are loaded when they are needed. Inside media/ only.
#pragma once

#include <string>

namespace streamsim::media {

/// By name and major version ("avformat", 59), from where this system looks for libraries; stays for good.
/// Null: see why_no_library().
void* load_library(const std::string& name, int major);
/// Null: see why_no_library().
void* find_function(void* library, const char* name);
/// Why the last call failed.
std::string why_no_library();

}  // namespace streamsim::media
