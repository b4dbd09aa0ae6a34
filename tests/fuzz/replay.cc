// Replays inputs of the fuzz targets, in ordinary builds: fuzz_replay TARGET FILE_OR_FOLDER... Ends as the
// target does, and names the file at which that was. STREAMSIM_SAMPLE=N: then also changed inputs, for N
// seconds less one. Exits 2 for wrong use.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/prng.h"
#include "fuzz/fuzz.h"

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using streamsim::fuzz::Target;

const char* current_file = "";
std::string_view current_change;
bool is_changed = false;  // the input is no file of the corpus, but this
std::string kept_as;      // the file that keeps it where it fails

/// Async-signal-safe.
void name_file() {
    constexpr std::string_view kBegin = "\nfuzz_replay: failed with the input ";
    (void)!write(STDERR_FILENO, kBegin.data(), kBegin.size());
    (void)!write(STDERR_FILENO, current_file, std::strlen(current_file));
    (void)!write(STDERR_FILENO, "\n", 1);
    if (!is_changed) return;
    const int kept = open(kept_as.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    (void)!write(kept, current_change.data(), current_change.size());
}

void on_signal(int signal) {
    name_file();
    raise(signal);  // by SA_RESETHAND with its default action
}

/// The file is named also when the process is ended by a signal, or by a sanitizer.
void watch_for_failures() {
    static std::array<char, 64 * 1024> stack;  // a stack that overflowed holds no handler
    const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    sigaction(SIGABRT, &action, nullptr);
    if (__sanitizer_set_death_callback != nullptr) return __sanitizer_set_death_callback(name_file);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

std::vector<std::string> files_in(const std::string& place) {
    namespace fs = std::filesystem;
    if (!fs::is_directory(place)) return {place};
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(place)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// With a few bytes changed, left out or doubled.
std::string changed(std::string bytes, streamsim::Prng& chance) {
    constexpr std::uint32_t kNumbers[] = {0,    1,      2,          0x7f,       0x80,
                                          0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    for (std::uint64_t left = 1 + chance.below(3); left > 0 && !bytes.empty(); --left) {
        const std::size_t at = chance.below(bytes.size());
        const std::size_t count = 1 + chance.below(std::min<std::size_t>(bytes.size() - at, 16));
        switch (chance.below(6)) {
            case 0: bytes.resize(at); break;
            case 1: bytes.erase(at, count); break;
            case 2: bytes.insert(at, bytes.substr(at, count)); break;
            case 3: {
                const std::uint32_t number = kNumbers[chance.below(std::size(kNumbers))];
                for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
                    bytes[at + i] = static_cast<char>(number >> 8 * (3 - i));
                break;
            }
            case 4: bytes[at] = static_cast<char>(bytes[at] + (chance.below(2) == 0 ? 1 : -1)); break;
            default: bytes[at] = static_cast<char>(chance.below(256)); break;
        }
    }
    return bytes;
}

/// Returns their number.
std::size_t run_changed(const Target& target, const std::vector<std::string>& inputs) {
    const char* const times = std::getenv("STREAMSIM_SAMPLE");
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds(times == nullptr ? 0 : std::atoi(times) - 1);
    streamsim::Prng chance(1);
    kept_as =
        std::filesystem::temp_directory_path() / fmt::format("streamsim-fuzz-{}-{}", target.name, getpid());
    std::size_t count = 0;
    for (; std::chrono::steady_clock::now() < until; ++count) {
        const std::string bytes = changed(inputs[chance.below(inputs.size())], chance);
        current_file = kept_as.c_str();
        current_change = bytes;
        is_changed = true;
        streamsim::fuzz::run_target(target, std::as_bytes(std::span(bytes)));
    }
    is_changed = false;
    current_file = "";
    return count;
}

int wrong_use(const std::string& why) {
    fmt::print(stderr, "fuzz_replay: {}\nusage: fuzz_replay TARGET FILE_OR_FOLDER...\ntargets:", why);
    for (const Target& target : streamsim::fuzz::targets()) fmt::print(stderr, " {}", target.name);
    fmt::print(stderr, "\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return wrong_use("a target and its inputs are needed");
    const auto& targets = streamsim::fuzz::targets();
    const auto target = std::find_if(targets.begin(), targets.end(), [&](const Target& each) {
        return std::string_view(each.name) == argv[1];
    });
    if (target == targets.end()) return wrong_use(fmt::format("there is no target {}", argv[1]));
    watch_for_failures();
    std::vector<std::string> inputs;
    for (int i = 2; i < argc; ++i) {
        for (const std::string& file : files_in(argv[i])) {
            std::ifstream in(file, std::ios::binary);
            if (!in) return wrong_use(fmt::format("{} cannot be read", file));
            const std::string& bytes =
                inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
            current_file = file.c_str();
            streamsim::fuzz::run_target(*target, std::as_bytes(std::span(bytes)));
        }
    }
    if (inputs.empty()) return wrong_use("there are no inputs");
    const std::size_t more = run_changed(*target, inputs);
    fmt::print("{}: {} inputs, {} changed ones\n", target->name, inputs.size(), more);
    return 0;
}
