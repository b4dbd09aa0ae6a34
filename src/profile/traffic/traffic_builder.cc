#include "profile/traffic/traffic_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/units.h"

namespace streamsim::profile {

std::uint32_t TrafficBuilder::file(const std::string& name) {
    const auto [at, fresh] = files_.try_emplace(name, static_cast<std::uint32_t>(traffic_.files.size()));
    if (fresh) traffic_.files.push_back({name, 0, 0, true});
    return at->second;
}

std::uint32_t TrafficBuilder::user(const std::string& name) {
    const auto [at, fresh] = users_.try_emplace(name, static_cast<std::uint32_t>(traffic_.users.size()));
    return fresh ? add_user(name) : at->second;
}

std::uint32_t TrafficBuilder::add_user(const std::string& name) {
    traffic_.users.push_back(name);
    return static_cast<std::uint32_t>(traffic_.users.size() - 1);
}

std::uint32_t TrafficBuilder::add_session(const TrafficSession& session) {
    traffic_.sessions.push_back(session);
    return static_cast<std::uint32_t>(traffic_.sessions.size() - 1);
}

std::size_t TrafficBuilder::add(const TrafficOperation& operation) {
    traffic_.operations.push_back(operation);
    if (operation.moves_data()) grow(operation.file, operation.offset + operation.bytes);
    return traffic_.operations.size() - 1;
}

void TrafficBuilder::note(const std::string& sentence, std::uint64_t times) {
    const auto there =
        std::find_if(notes_.begin(), notes_.end(), [&](const auto& known) { return known.first == sentence; });
    if (there == notes_.end()) {
        notes_.emplace_back(sentence, times);
    } else {
        there->second += times;
    }
}

void TrafficBuilder::note_io_uring() {
    if (!std::exchange(traffic_.io_uring, true))
        note("io_uring was used: what goes through it is in no strace log");
}

Traffic TrafficBuilder::finish(std::string source, std::string recorder, bool has_durations) {
    Traffic traffic = std::move(traffic_);
    traffic.source = std::move(source);
    traffic.recorder = std::move(recorder);
    traffic.has_durations = has_durations;
    std::ranges::stable_sort(traffic.operations, {}, &TrafficOperation::begin_ns);
    if (!traffic.operations.empty()) {
        const std::int64_t zero = traffic.operations.front().begin_ns;
        for (TrafficOperation& operation : traffic.operations) operation.begin_ns -= zero;
    }
    for (const auto& [sentence, times] : notes_) {
        traffic.notes.push_back(times > 1 ? fmt::format("{} ({} times)", sentence, show_count(times))
                                          : sentence);
    }
    return traffic;
}

std::string normal_path(const std::string& path) {
    std::vector<std::string_view> parts;
    const bool absolute = path.starts_with('/');
    for (const std::string_view part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !absolute) {
            parts.push_back(part);
        }
    }
    std::string out = absolute ? "/" : "";
    out += fmt::format("{}", fmt::join(parts, "/"));
    return out.empty() ? "." : out;
}

std::int64_t take_fraction(std::string_view& text) {
    if (text.size() < 2 || text[0] != '.' || !is_digit(text[1])) return 0;
    text.remove_prefix(1);
    std::int64_t ns = 0, unit = 100'000'000;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), unit /= 10)
        ns += (text.front() - '0') * unit;
    return ns;
}

}  // namespace streamsim::profile
