#include "cli/options/command.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cli/options/options.h"

namespace streamsim::cli {
namespace {

constexpr const char* kTargetExpected = "a directory, a clip, a sequence or a URL";

Operand target(const char* help) {
    return {"TARGET", kTargetExpected, help, Completion::file, true, &CliOptions::target};
}

std::vector<CommandInfo> playing_commands() {
    return {
        {Command::play,
         "play",
         "plays media from storage on deadlines and counts every frame that misses its deadline",
         "streamsim plays media from storage as an edit system does: each frame is read against a deadline of "
         "its own, and every frame that misses its deadline is counted. It measures delivery to this client; "
         "it does not decode.",
         {target("a directory, a clip, an image sequence or a URL (file:, nfs:, smb:, null:, sim:MODEL)")}},
        {Command::prepare,
         "prepare",
         "makes the media that play needs below TARGET/streamsim-media",
         "It takes the options of play about media and players, so that what will be played can be prepared.",
         {target("a directory on the storage")}},
        {Command::max,
         "max",
         "finds the largest number of streams that plays without a missed frame",
         "It plays 1, 2, 4, ... streams until one step fails, then the numbers between; each step plays for "
         "--duration.",
         {{"TARGET", kTargetExpected,
           "a directory on the storage, or a URL (file:, nfs:, smb:, null:, sim:MODEL); several are compared",
           Completion::file, true, nullptr, &CliOptions::targets}}},
        {Command::predict,
         "predict",
         "says how many streams play on a model that was calibrated, and how sure that is",
         "It plays on draws of the model's uncertain numbers. With --streams or --total-streams it says how "
         "likely "
         "these play. It refuses where the interval is wider than +-20 %, and says what to measure next.",
         {{"MODEL", "a model", "a document that was calibrated, or a model as NAME or sim:NAME",
           Completion::file, true, &CliOptions::target}}},
        {Command::run,
         "run",
         "runs a scenario or a workload",
         "A scenario has seats, their streams, recorders and meters, when they begin and end, and what fails. "
         "A workload is load that is not playback; it runs step by step, and the report has the tables or the "
         "curve of its source.",
         {{"FILE", "a scenario or a workload",
           "a scenario or a workload: JSON, or a NAME of formats/scenario/ or formats/workload/; `published`: "
           "what papers print, beside what the models give",
           Completion::workload, true, &CliOptions::name},
          {"TARGET", kTargetExpected,
           "a directory or a URL, where the document names none (of a workload: instead of its own)",
           Completion::file, false, &CliOptions::target}}},
        {Command::host,
         "host",
         "waits for seats that join, and leads a run on all of them",
         "The host plays nothing. Options that it has not got itself are those of the run. Instead of a FILE "
         "it "
         "takes the line of another command, beginning with its name: run, max or calibrate.\n"
         "  streamsim host day.json --seats 8 --key day.key\n"
         "  streamsim host --seats 8 --key day.key max nfs://nas/media",
         {{"FILE", "a scenario or a workload", "a scenario or a workload, as for run", Completion::workload,
           true, nullptr, &CliOptions::line}}},
        {Command::join,
         "join",
         "plays one seat of a run that another computer leads",
         "It tries until the host is there, and ends with the run. It listens on no port, runs no command of "
         "the "
         "host, and reads and writes nothing outside of --allow.\n"
         "  streamsim join 10.0.0.5:9470 --key day.key --allow /mnt/media",
         {{"ADDR:PORT", "the address that the host printed", "the address that the host printed",
           Completion::none, true, nullptr, &CliOptions::line}}},
    };
}

std::vector<CommandInfo> other_commands() {
    return {
        {Command::calibrate,
         "calibrate",
         "measures a storage with probes and fits a model to it",
         "The probes take 3 to 5 minutes, their files and the search for the held-back run some more. What was "
         "measured is kept beside the model as MODEL.measured.json: after Ctrl-C the same command goes on from "
         "there. With several computers (mpirun) it tells the limit of a seat from that of the server.\n"
         "  streamsim calibrate /mnt/media -o media.json\n"
         "  streamsim predict media.json --dpx12 --seats 20",
         {target("a directory on the storage, or a URL (nfs:, smb:, sim:MODEL)")}},
        {Command::formats,
         "formats",
         "lists the media formats, or shows one with its sources",
         "",
         {{"NAME", "a format or a JSON file", "a format, or a JSON file", Completion::format, false,
           &CliOptions::name}}},
        {Command::inspect,
         "inspect",
         "shows the frame index of a clip or sequence: frames, rate, bytes, offsets",
         "With --sensitivity, of a model: which answers each of its numbers decides.",
         {target("a clip, a sequence's directory, one of its frames, or a pattern")}},
        {Command::plan,
         "plan",
         "finds the cheapest storage on which the seats of a need play",
         "A need has seats that work at once, and offers: models with numbers to choose, prices, powers. The "
         "answer is the cheapest configurations whose verification runs miss no frame, what is full first in "
         "each, and what one step less of each choice loses. Exit code 1: none plays within the limits.",
         {{"NEED", "a need", "a need: JSON, or a NAME of formats/need/", Completion::file, true,
           &CliOptions::name}}},
        {Command::profile,
         "profile",
         "learns a workload document from a capture of real traffic",
         "It shows how well what the document plays fits the traffic:\n"
         "  strace -f -ttt -T -y -o player.log PLAYER ...\n"
         "  streamsim profile player.log -o player.json",
         {{"CAPTURE", "an strace log or a capture",
           "an strace log (of -ff: the name without the process), or a capture of NFSv3, NFSv4 or SMB2 (pcap, "
           "pcapng; read by tshark)",
           Completion::file, true, &CliOptions::name}}},
        {Command::report,
         "report",
         "renders results as text, HTML, CSV or JUnit; compares several",
         "",
         {{"RESULT", "a document that --json wrote",
           "documents that --json wrote; the first is what the others are compared with", Completion::file,
           true, nullptr, &CliOptions::results}}},
        {Command::clean,
         "clean",
         "removes TARGET/streamsim-media, which prepare made, and nothing else",
         "",
         {target("the directory that was given to prepare")}},
        {Command::man, "man", "prints the manual page (`streamsim man | man -l -`)", "", {}},
        {Command::completions,
         "completions",
         "prints the completion script of a shell",
         "For bash: `source <(streamsim completions bash)`.",
         {{"SHELL",
           "bash, zsh or fish",
           "bash, zsh or fish",
           Completion::none,
           true,
           &CliOptions::name,
           nullptr,
           {"bash", "zsh", "fish"}}}},
    };
}

}  // namespace

const std::vector<CommandInfo>& command_table() {
    static const std::vector<CommandInfo> commands = [] {
        std::vector<CommandInfo> all = playing_commands();
        for (CommandInfo& each : other_commands()) all.push_back(std::move(each));
        return all;
    }();
    return commands;
}

const CommandInfo& info(Command command) {
    const auto& all = command_table();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [command](const CommandInfo& each) { return each.command == command; });
    STREAMSIM_CHECK(found != all.end(), "every command is in the table");
    return *found;
}

std::string typed_name(const CommandInfo& info) {
    return info.command == Command::play ? "streamsim" : std::string("streamsim ") + info.name;
}

std::vector<std::string> names_of(Commands commands) {
    std::vector<std::string> names;
    for (const CommandInfo& each : command_table()) {
        if (commands.has(each.command)) names.emplace_back(each.name);
    }
    return names;
}

Command command_of(int argc, const char* const* argv) {
    for (const CommandInfo& each : command_table()) {
        if (argc > 1 && std::string_view(each.name) == argv[1]) return each.command;
    }
    return Command::play;
}

}  // namespace streamsim::cli
