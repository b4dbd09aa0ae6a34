// The words of the command line, one a line. Files that options name are read: words that could lead out of the
// folder of the documents are left out.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options/command_line.h"
#include "fuzz/fuzz.h"

namespace streamsim::fuzz {
namespace {

/// A folder with the formats of the four data sets: reading all takes a hundred times as long as a command
/// line.
class FewFormats {
public:
    FewFormats() {
        std::filesystem::create_directories(folder_ / "media");
        const std::filesystem::path all = STREAMSIM_SOURCE_DIR "/formats/media";
        for (const char* name : {"dpx10.json", "dpx12.json", "prores-hd.json", "prores-uhd.json"})
            std::filesystem::copy_file(all / name, folder_ / "media" / name);
        setenv("STREAMSIM_FORMATS", folder_.c_str(), 1);
    }
    ~FewFormats() { std::filesystem::remove_all(folder_); }
    FewFormats(const FewFormats&) = delete;
    FewFormats& operator=(const FewFormats&) = delete;

private:
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("streamsim-fuzz-" + std::to_string(getpid()));
};

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(command_line) {
    using namespace streamsim;
    using fuzz::require;
    static const fuzz::FewFormats formats;
    std::vector<std::string> words = {"streamsim"};
    for (fuzz::Taker taker(input); !taker.empty() && words.size() < 24;) {
        const std::string_view word = taker.line().substr(0, 300);
        if (word.find('\0') != std::string_view::npos || word.find("..") != std::string_view::npos) continue;
        for (const char* place : {"/dev", "/proc", "/sys", "/run"}) {
            if (word.find(place) != std::string_view::npos) return;
        }
        words.emplace_back(word);
    }
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    const auto parsed = cli::parse_command_line(static_cast<int>(argv.size()), argv.data());
    if (parsed) {
        if (parsed->answer) return;
        require(parsed->options.command_line.size() == words.size(), "the words are kept");
        const run::PlayRequest& play = parsed->options.play;
        require(play.streams + play.record.streams + play.meters.size() > 0 && play.seats > 0,
                "something plays");
        return;
    }
    require(parsed.error().kind != ErrorKind::interrupted && !parsed.error().problems.empty(),
            "a refusal has a problem");
    for (const std::string& problem : parsed.error().problems)
        require(!problem.empty(), "a problem has a text");
}
