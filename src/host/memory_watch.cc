#include "host/memory_watch.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/ascii.h"
#include "base/system/proc_text.h"

namespace streamsim::host {
namespace {

/// The sum of the lines "KEY 123" whose key begins with one of these; nullopt: no such line.
std::optional<std::uint64_t> sum_of(const std::filesystem::path& file,
                                    std::initializer_list<std::string_view> keys) {
    std::ifstream in(file);
    std::optional<std::uint64_t> sum;
    std::string key;
    std::uint64_t value = 0;
    while (in >> key >> value) {
        const bool wanted =
            std::any_of(keys.begin(), keys.end(), [&key](auto each) { return key.starts_with(each); });
        if (wanted) sum = sum.value_or(0) + value;
    }
    return sum;
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// The group's path below a mount that shows `root` of the hierarchy.
std::string below(std::string_view group, std::string_view root) {
    if (root != "/" && group.starts_with(root)) group.remove_prefix(root.size());
    while (group.starts_with('/')) group.remove_prefix(1);
    return std::string(group);
}

/// The number that a file consists of.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
    return number_after(read_proc_text(file).value_or(""), "");
}

/// Pages of files that were read again after their eviction.
std::optional<std::uint64_t> refaulted_pages(const std::filesystem::path& group) {
    const std::string text = read_proc_text(group / "memory.stat").value_or("");
    const auto of_files = number_after(text, "workingset_refault_file ");
    return of_files ? of_files : number_after(text, "workingset_refault ");  // Linux before 5.9
}

}  // namespace

std::optional<std::int64_t> pressure_ns(const std::filesystem::path& file) {
    const std::string text = read_proc_text(file).value_or("");
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t total = line.find("total=");
        if (!line.starts_with("some") || total == std::string::npos) continue;
        if (const auto us = whole_number<std::int64_t>(line.substr(total + 6))) return *us * 1'000;
    }
    return std::nullopt;
}

std::optional<MemoryGroup> memory_group_in(std::string_view groups, std::string_view mounts) {
    std::optional<std::string_view> v1, v2;
    for (const std::string_view line : split(groups, '\n')) {  // "4:memory:/a/b", "0::/a/b"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        if (controllers.empty()) v2 = line.substr(second + 1);
        if (has_word(split(controllers, ','), "memory")) v1 = line.substr(second + 1);
    }
    for (const std::string_view line : split(mounts, '\n')) {
        // id parent device root point options [optional]... - type source options of the file system
        const std::vector<std::string_view> words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 6 || words.end() - dash < 4) continue;
        const std::string_view type = dash[1];
        if (v1 && type == "cgroup" && has_word(split(dash[3], ','), "memory"))
            return MemoryGroup{std::string(words[4]), below(*v1, words[3]), false};
        if (!v1 && v2 && type == "cgroup2")
            return MemoryGroup{std::string(words[4]), below(*v2, words[3]), true};
    }
    return std::nullopt;
}

MemoryWatch::MemoryWatch(const std::string& root) : root_(root) {
    const auto group = memory_group_in(read_proc_text(root + "/proc/self/cgroup").value_or(""),
                                       read_proc_text(root + "/proc/self/mountinfo").value_or(""));
    if (!group) return;
    v2_ = group->v2;
    const std::filesystem::path mount = root + group->mount;
    std::filesystem::path path = group->path;
    std::error_code error;
    // The table may name a group by a path that this process cannot see.
    if (!std::filesystem::is_directory(mount / path, error)) path.clear();
    for (; !path.empty(); path = path.parent_path()) groups_.push_back(mount / path);
    groups_.push_back(mount);
}

/// How often the limits of a group were met. The kernel counts that in the group whose limit it is, and in
/// memory.events in those above it too.
std::optional<std::uint64_t> MemoryWatch::limit_hits_of(const std::filesystem::path& group) const {
    if (!v2_) return number_in(group / "memory.failcnt");
    const auto hits = sum_of(group / "memory.events.local", {"max", "high"});
    // Linux before 5.3.
    return hits || group != groups_.front() ? hits : sum_of(group / "memory.events", {"max", "high"});
}

void MemoryWatch::read(SystemSample& sample) const {
    // Direct reclaim for the whole computer: a task had to free memory, as none was left.
    sample.memory_limit_hits = sum_of(root_ + "/proc/vmstat", {"allocstall"});
    if (groups_.empty()) {
        sample.memory_limit_hits.reset();
        return;
    }
    for (const std::filesystem::path& group : groups_) {
        const auto hits = limit_hits_of(group);
        if (hits) sample.memory_limit_hits = sample.memory_limit_hits.value_or(0) + *hits;
        for (const char* const file : {v2_ ? "memory.max" : "memory.limit_in_bytes", "memory.high"}) {
            const auto limit = number_in(group / file);
            if (limit)
                sample.memory_limit_bytes = std::min(sample.memory_limit_bytes.value_or(UINT64_MAX), *limit);
        }
    }
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (const auto pages = refaulted_pages(groups_.front())) sample.refaulted_bytes = *pages * page;
    // In the root group it is missing, or the computer's.
    if (v2_) sample.own_memory_pressure_ns = pressure_ns(groups_.front() / "memory.pressure");
}

}  // namespace streamsim::host
