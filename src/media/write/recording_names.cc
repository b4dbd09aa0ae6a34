#include "media/write/recording_names.h"

#include <fmt/format.h>

#include <charconv>

#include "media/frames/frame_maker.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kRun = "run-";

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// The number as it is printed.
bool take_number(std::string_view& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    const auto length = static_cast<std::size_t>(end - text.data());
    if (fmt::format("{}", value) != text.substr(0, length)) return false;
    text.remove_prefix(length);
    return true;
}

}  // namespace

std::string run_name(std::uint64_t id) {
    return std::string(kRun) + id_text(id);
}

bool is_run(std::string_view name) {
    if (!take(name, kRun) || name.size() != 16) return false;
    return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_recording(std::string_view name) {
    return take(name, "seat") && take_number(name) && take(name, "-stream") && take_number(name) &&
           name.empty();
}

bool is_recorded_file(std::string_view name) {
    using Container = MediaFormat::Container;
    for (const Container each : {Container::quicktime, Container::mp4, Container::mxf}) {
        const std::string_view extension = container_extension(each);
        if (name.ends_with(extension)) return is_recording(name.substr(0, name.size() - extension.size()));
    }
    return false;
}

}  // namespace streamsim::media
