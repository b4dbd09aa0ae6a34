#include "profile/input/read_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <list>
#include <utility>

#include "base/ascii.h"
#include "base/system/utf8_path.h"
#include "profile/capture/capture.h"
#include "profile/input/run_program.h"

namespace streamsim::profile {
namespace {

namespace fs = std::filesystem;

/// pcap in both byte orders and with nanoseconds, pcapng, and what is packed by gzip, as tshark reads it.
bool is_capture(const std::string& path) {
    std::array<char, 4> head{};
    std::ifstream(system_path(path), std::ios::binary).read(head.data(), head.size());
    const std::string_view magic(head.data(), head.size());
    return magic == "\xd4\xc3\xb2\xa1" || magic == "\xa1\xb2\xc3\xd4" || magic == "\x4d\x3c\xb2\xa1" ||
           magic == "\xa1\xb2\x3c\x4d" || magic == "\x0a\x0d\x0d\x0a" || magic.starts_with("\x1f\x8b");
}

/// "log.123" of "log": 123.
std::optional<std::uint32_t> pid_of(std::string_view name, const std::string& base) {
    return name.starts_with(base + ".") ? whole_number<std::uint32_t>(name.substr(base.size() + 1))
                                        : std::nullopt;
}

/// The log files of strace -ff, one for each process.
std::vector<std::pair<std::string, std::uint32_t>> process_logs(const std::string& path) {
    std::vector<std::pair<std::string, std::uint32_t>> out;
    const fs::path whole = utf8_path(path);
    const fs::path directory = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    const std::string base = utf8_text(whole.filename());
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        if (const auto pid = pid_of(utf8_text(at->path().filename()), base))
            out.emplace_back(utf8_text(at->path()), *pid);
    }
    std::sort(out.begin(), out.end());
    return out;
}

Result<Traffic> read_capture(const std::string& path, const ReadingProgress& progress) {
    if (!can_run("tshark")) {
        return environment_error(fmt::format(
            "{}: is a capture, which tshark reads, and tshark is not on PATH: install the package tshark",
            path));
    }
    CaptureReader reader;
    std::uint64_t lines = 0;
    bool interrupted = false;
    constexpr std::uint64_t kLinesBetween = 16'384;
    const auto done = run_for_lines("tshark", tshark_arguments(path), [&](std::string_view line) {
        reader.line(line);
        if (++lines % kLinesBetween == 0) interrupted = !progress(0);
        return !interrupted;
    });
    if (interrupted) return interrupted_error();
    if (!done && lines == 0) return bad_input(fmt::format("{}: {}", path, done.error().problems.front()));
    auto traffic = reader.finish(path);
    // A truncated capture is good up to its end.
    if (traffic && !done) traffic->notes.push_back(done.error().problems.front());
    return traffic;
}

}  // namespace

Result<Traffic> read_traffic(const std::string& path, std::uint64_t& total, const ReadingProgress& progress) {
    std::error_code error;
    const fs::file_status status = fs::status(system_path(path), error);
    if (fs::is_directory(status))
        return bad_input(fmt::format("{}: is a directory, expected an strace log or a capture", path));
    std::list<std::ifstream> open;
    std::vector<StraceFile> files;
    const auto add = [&](const std::string& name, std::optional<std::uint32_t> pid) -> Result<void> {
        open.emplace_back(system_path(name), std::ios::binary);
        if (!open.back()) return environment_error(fmt::format("{}: cannot be read", name));
        if (const auto bytes = fs::file_size(system_path(name), error); !error) total += bytes;
        files.push_back({name, &open.back(), pid});
        return {};
    };
    if (fs::exists(status)) {
        if (is_capture(path)) return read_capture(path, progress);
        if (const auto added = add(path, std::nullopt); !added) return added.error();
        return read_strace_log(path, files, progress);
    }
    for (const auto& [name, pid] : process_logs(path)) {
        if (const auto added = add(name, pid); !added) return added.error();
    }
    if (files.empty()) return bad_input(fmt::format("{}: there is no such file", path));
    return read_strace_log(path, files, progress);
}

}  // namespace streamsim::profile
