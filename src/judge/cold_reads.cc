#include "judge/cold_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/ascii.h"
#include "base/units.h"

namespace streamsim::judge {
namespace {

/// Shares of the bytes that the step read.
constexpr double kColdShareMin = 0.95, kColdShareMax = 1.5;
/// So large a part may come from this computer's own memory.
constexpr double kOwnMemoryShareMax = 0.05;

constexpr std::string_view kReadWords[] = {"read", "reads"};
constexpr std::string_view kDriveWords[] = {"disk", "drive", "device", "dev", "hdd", "ssd", "nvme"};
constexpr std::string_view kMemoryWords[] = {
    "cache", "cached", "hit",  "hits",     "miss", "misses", "arc", "l2arc", "mem",    "memory",
    "ram",   "buffer", "page", "prefetch", "l1",   "l2",     "l3",  "write", "writes", "written"};

template <std::size_t N>
bool is_among(const std::string_view (&words)[N], std::string_view word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// "disk_read_bytes" of "disk_read_bytes_total{drive=\"1\"}"
std::string base_of(std::string_view name) {
    name = name.substr(0, name.find('{'));
    constexpr std::string_view kTotal = "_total";
    if (name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
    return std::string(name);
}

/// The words of a name, in small letters.
std::vector<std::string> words_of(const std::string& base) {
    std::vector<std::string> words(1);
    for (const char c : to_lower(base)) {
        if ((c >= 'a' && c <= 'z') || is_digit(c)) {
            words.back().push_back(c);
        } else {
            words.emplace_back();
        }
    }
    return words;
}

/// "sda" of "disk_read_bytes{instance=\"nas\",device=\"sda\"}"; empty: there is no such label.
std::string_view device_of(std::string_view name) {
    constexpr std::string_view kLabel = "device=\"";
    for (std::size_t at = name.find('{'); at != std::string_view::npos; at = name.find(',', at + 1)) {
        const std::string_view label = name.substr(std::min(name.find_first_not_of(' ', at + 1), name.size()));
        if (!label.starts_with(kLabel)) continue;
        return label.substr(kLabel.size(), label.find('"', kLabel.size()) - kLabel.size());
    }
    return {};
}

/// True: an array (md) or a device of the device mapper (dm). Its drives read the same bytes.
bool is_made_of_drives(std::string_view device) {
    const std::string_view number = device.substr(std::min<std::size_t>(device.size(), 2));
    return device.starts_with("dm-") ||
           (device.starts_with("md") && !number.empty() && (is_digit(number.front()) || number.front() == '_'));
}

/// "disk" of "disks" and "disk12".
bool is_drive(std::string_view word) {
    while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
    if (is_among(kDriveWords, word)) return true;
    return word.ends_with('s') && is_among(kDriveWords, word.substr(0, word.size() - 1));
}

std::string signed_bytes(double bytes) {
    const auto size = static_cast<std::uint64_t>(std::llround(std::abs(bytes)));
    return (bytes < 0 ? "-" : "+") + show_bytes(size);
}

ColdReadsFinding find(const std::string& name,
                      double difference,
                      std::uint64_t bytes_read,
                      std::uint64_t own_memory_bytes,
                      bool alone) {
    const auto read = static_cast<double>(bytes_read);
    const std::string begin =
        fmt::format("{} {} of {} read", name, signed_bytes(difference), show_bytes(bytes_read));
    if (difference < 0) return {ColdReads::not_known, begin + ": it went back, was reset, and proves nothing"};
    if (difference > kColdShareMax * read)
        return {ColdReads::not_known, begin + ": other work read, too, so that it proves nothing"};
    if (difference >= kColdShareMin * read) {
        if (static_cast<double>(own_memory_bytes) <= kOwnMemoryShareMax * read)
            return {ColdReads::cold, begin + ": the reads were cold"};
        return {ColdReads::not_known,
                fmt::format("{}: but {} came from this computer's page cache, so that it proves nothing", begin,
                            show_bytes(own_memory_bytes))};
    }
    if (!alone)
        return {ColdReads::not_known,
                begin + ": there are other counters of drives; print one of all together"};
    return {ColdReads::not_cold,
            fmt::format("{}: not all reads were cold, {} came from a cache or were stored compressed", begin,
                        show_bytes(static_cast<std::uint64_t>(std::llround(read - difference))))};
}

}  // namespace

bool counts_drive_reads(const std::string& name) {
    const std::vector<std::string> words = words_of(base_of(name));
    const auto any = [&words](auto&& holds) { return std::any_of(words.begin(), words.end(), holds); };
    return words.size() > 1 && words.back() == "bytes" &&
           any([](const std::string& word) { return is_among(kReadWords, word); }) && any(is_drive) &&
           !any([](const std::string& word) { return is_among(kMemoryWords, word); });
}

ColdReadsFinding find_cold_reads(const std::vector<CounterChange>& counters,
                                 std::uint64_t bytes_read,
                                 std::uint64_t own_memory_bytes) {
    std::map<std::string, double> drives, made_of_drives;
    for (const CounterChange& counter : counters) {
        if (!counts_drive_reads(counter.name)) continue;
        auto& series = is_made_of_drives(device_of(counter.name)) ? made_of_drives : drives;
        series[base_of(counter.name)] += counter.difference;
    }
    drives.merge(made_of_drives);  // counters without other series
    if (drives.empty() || bytes_read == 0) return {};
    const auto most = std::max_element(drives.begin(), drives.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return find(most->first, most->second, bytes_read, own_memory_bytes, drives.size() == 1);
}

}  // namespace streamsim::judge
