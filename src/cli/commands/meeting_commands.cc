// host and join: seats that are started by hand, or by anything, meet and become the ranks of one run.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/document/json.h"
#include "base/system/utf8_path.h"
#include "base/time_of_day.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/options/command_line.h"
#include "cli/output/output_file.h"
#include "cli/play/following_page.h"
#include "cli/play/live_play.h"
#include "cli/play/lobby_view.h"
#include "cli/play/meeting_key.h"
#include "cli/play/ranks_run.h"
#include "run/backends/backends.h"
#include "run/process/control.h"
#include "seats/ranks.h"
#include "target/allowed_places.h"
#include "target/credentials.h"
#include "target/target.h"

namespace streamsim::cli {
namespace {

using seats::Ranks;

constexpr std::uint16_t kPort = 9470;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct Place {
    std::string address;
    std::uint16_t port = 0;
};

/// "10.0.0.5:9470", "[fd00::5]:9470", "9470" where `any` stands for the address.
Result<Place> read_place(const std::string& text, const char* any) {
    const std::size_t colon = text.rfind(':');
    Place place{any, 0};
    if (colon != std::string::npos) place.address = text.substr(0, colon);
    if (place.address.size() > 2 && place.address.front() == '[' && place.address.back() == ']')
        place.address = place.address.substr(1, place.address.size() - 2);
    const auto port = whole_number<std::uint16_t>(colon == std::string::npos ? text : text.substr(colon + 1));
    if (!port || *port == 0 || place.address.empty())
        return bad_input(fmt::format("'{}': expected ADDR:PORT such as 10.0.0.5:{}", text, kPort));
    place.port = *port;
    return place;
}

std::string shown_place(const std::string& address, std::uint16_t port) {
    const bool v6 = address.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port);
}

/// The words of the run: a line that begins with no command is one of run.
std::vector<std::string> words_of_run(const CliOptions& options) {
    std::vector<std::string> words = {"streamsim"};
    const bool named =
        std::ranges::count(std::vector<std::string>{"run", "max", "calibrate"}, options.line.front()) > 0;
    if (!named) words.emplace_back("run");
    words.insert(words.end(), options.line.begin(), options.line.end());
    return words;
}

/// Options that name files of the computer that reads them, or that would have a seat do more than play.
Result<void> check_words(const std::vector<std::string>& words) {
    std::vector<std::string> problems;
    if (words.size() < 2 || (words[1] != "run" && words[1] != "max" && words[1] != "calibrate"))
        problems.emplace_back("the host wants another command than run, max or calibrate");
    for (const char* const option :
         {"--faults", "--cuts", "--credentials", "--logo", "--journal", "--realtime"}) {
        const auto is_it = [option](const std::string& word) {
            return word.substr(0, word.find('=')) == option;
        };
        if (std::ranges::any_of(words, is_it))
            problems.push_back(fmt::format("{}: is not for seats that join", option));
    }
    const auto names_file = [](const std::string& word) {
        return word.find_first_of("/\\") != std::string::npos || word.ends_with(".json");
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (const std::string option : {"--format", "--meter"}) {
            const bool split = words[i] == option && i + 1 < words.size();
            if ((split && names_file(words[i + 1])) ||
                (words[i].starts_with(option + "=") && names_file(words[i])))
                problems.push_back(fmt::format("{}: expected a name: seats that join read no file", option));
        }
    }
    return problems.empty() ? Result<void>() : Error{ErrorKind::bad_input, std::move(problems)};
}

std::string version_of(const CommandContext& context) {
    return fmt::format("{} ({})", context.program.version, context.program.revision);
}

/// Does the run with all that have met. `page`: of --web, or null.
int run_together(CommandContext& context,
                 Ranks& ranks,
                 const std::vector<std::string>& words,
                 std::shared_ptr<view::WebServer> page = nullptr) {
    CliContext of_run{context.log, context.program, &ranks, std::move(page)};
    of_run.program.command = words;
    int code = context.run_words(of_run, context.control);
    if (!ranks.first() && context.control.interrupted()) code = kExitInterrupted;
    code = ranks.finish(code);
    if (const std::string journal = ranks.kept_journal(); !journal.empty())
        context.log.error(
            "{} has what this seat played: the host has not written a result that has it; `streamsim report "
            "--merge` makes one",
            journal);
    return code;
}

/// The command lines of the seats: one for each address of this computer.
std::vector<std::string> join_lines(const CommandContext& context, const Ranks& ranks, const Place& place) {
    const bool v4_alone = place.address == "0.0.0.0";
    const bool any = v4_alone || place.address == "*" || place.address == "::";
    std::vector<std::string> addresses = any ? ranks.join_token().addresses : std::vector{place.address};
    if (v4_alone)
        std::erase_if(addresses, [](const std::string& each) { return each.find(':') != std::string::npos; });
    if (addresses.empty()) addresses = {"127.0.0.1"};
    std::vector<std::string> lines;
    lines.reserve(addresses.size());
    for (const std::string& address : addresses)
        lines.push_back(fmt::format("streamsim join {} --key {} --allow PATH", shown_place(address, place.port),
                                    context.options.key));
    return lines;
}

/// The run, as its words and its document say before any seat is here.
struct Invitation {
    std::vector<std::string> words;
    std::vector<std::string> targets;
    std::string web;                     // of --web
    bool takes_standard_output = false;  // for a document
};

void say_how_to_join(const Invitation& run, const std::vector<std::string>& lines) {
    print_text(run.takes_standard_output ? stderr : stdout, fmt::format("{}\n", fmt::join(lines, "\n")));
    std::fflush(stdout);
}

/// Leaves out pipes and devices, whose readers would see the end of what they are tested for.
void keep_files_on_disks(ResultFiles& files) {
    for (std::string* file : {&files.json, &files.csv, &files.html, &files.trace, &files.junit}) {
        std::error_code error;
        const auto there = std::filesystem::status(system_path(*file), error);
        const bool is_pipe = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
        if (*file == "-" || is_pipe) file->clear();
    }
}

/// Success where the result can be written. Its kind is checked by the command.
Result<void> check_files(const ResultFiles& files) {
    Error problems{ErrorKind::environment, {}};
    for (const std::string* file : {&files.json, &files.csv, &files.html, &files.trace, &files.junit}) {
        if (file->empty()) continue;
        if (const auto can = OutputFile::prepare(*file, ""); !can)
            problems.problems.push_back(can.error().problems.front());
    }
    return problems.problems.empty() ? Result<void>() : problems;
}

Result<Invitation> read_run(CommandContext& context) {
    Invitation run;
    run.words = words_of_run(context.options);
    if (auto done = check_words(run.words); !done) return done.error();
    std::vector<const char*> words;
    for (const std::string& word : run.words) words.push_back(word.c_str());
    auto parsed = parse_command_line(static_cast<int>(words.size()), words.data());
    if (!parsed) return parsed.error();
    run.takes_standard_output = parsed->options.files.take_standard_output() || parsed->options.output == "-";
    keep_files_on_disks(parsed->options.files);
    if (auto done = check_files(parsed->options.files); !done) return done.error();
    CommandContext of_run = context.with(parsed->options);
    auto targets = targets_of(of_run, context.options.play.seats);
    if (!targets) return targets.error();
    run.targets = std::move(*targets);
    run.web = parsed->options.web;
    return run;
}

Result<seats::StartRule> start_rule(const CliOptions& options) {
    seats::StartRule rule{options.quorum, options.within, std::nullopt, "", options.on_key};
    if (options.at.empty()) return rule;
    const std::int64_t now_ns = time_of_day_ns();
    const auto at_s = parse_local_time(options.at, now_ns / kNsPerSecond);
    if (!at_s) return bad_input("--at: " + at_s.error().problems.front());
    rule.at = Duration{*at_s * kNsPerSecond - now_ns};
    rule.at_text = show_local_time(*at_s);
    return rule;
}

/// Shows the seats as they come, until the run begins; then they get its words.
Result<void> wait_in_lobby(CommandContext& context,
                           Ranks& ranks,
                           const seats::StartRule& rule,
                           const std::vector<std::string>& words,
                           const std::vector<std::string>& join,
                           const std::shared_ptr<view::WebServer>& page) {
    const std::int64_t began_ns = context.control.now_ns();
    seats::StartWatch watch(rule);
    const std::string begins = rule.text(context.options.play.seats);
    if (rule.at && !context.options.quiet) context.log.info("{}, in {}", begins, show_duration(*rule.at));
    LobbyView lobby(context, begins, join, page);
    Result<void> met;
    wait_for_ranks(context.control, ranks, [&] {
        met = ranks.wait_for_seats([&](const seats::Lobby& seats) -> Result<bool> {
            const LobbyView::Wish wish = lobby.show(seats);
            if (wish == LobbyView::Wish::quit) return interrupted_error();
            return watch.begins(seats, Duration{context.control.now_ns() - began_ns},
                                wish == LobbyView::Wish::begin);
        });
        if (met && !ranks.share(Json(words))) met = interrupted_error();
    });
    lobby.end();
    return met;
}

/// How a seat that joins finds the targets of the run.
std::vector<seats::TargetSeen> look_at(const std::vector<std::string>& targets) {
    std::vector<seats::TargetSeen> all;
    for (const std::string& each : targets) {
        seats::TargetSeen seen{each, "", std::nullopt};
        const auto target = target::parse_target(each);
        const auto credentials =
            target ? target::find_credentials(*target, "") : Result<Credentials>(target.error());
        if (credentials) {
            const auto store = run::make_byte_store(*target, *credentials);
            const auto found = store->stat(target->name());
            const auto free = found ? store->free_bytes(target->name()) : Result<std::uint64_t>(found.error());
            if (free) seen.free_bytes = *free;
            if (!found) seen.problem = found.error().problems.front();
            if (found && !*found)
                seen.problem = fmt::format("{}: there is no such file or directory", target->name());
        } else {
            seen.problem = credentials.error().problems.front();
        }
        all.push_back(std::move(seen));
    }
    return all;
}

/// A seat whose host has begun the run.
struct Met {
    std::unique_ptr<Ranks> ranks;
    std::vector<std::string> words;
};

/// Joins; tries until --within. Errors: interrupted; environment: the host has refused it, or did not answer.
Result<std::unique_ptr<Ranks>> join_host(CommandContext& context,
                                         const Place& place,
                                         const seats::SeatKeys& keys) {
    const CliOptions& options = context.options;
    const std::string& shown = options.line.front();
    const std::int64_t began_ns = context.control.now_ns();
    std::atomic<bool> given_up = false;
    const auto late = [&] {
        return options.within && context.control.now_ns() - began_ns > options.within->ns;
    };
    Result<std::unique_ptr<Ranks>> ranks = interrupted_error();
    run::Control::Work work;
    work.run = [&] {
        ranks = Ranks::join_meeting(
            {1, place.address, place.port, keys, version_of(context), {}},
            {options.workload_name, options.allow, look_at}, [&] { return given_up || late(); },
            [&](const std::string& why) { context.log.warn("{}: {}; it tries on", shown, why); });
    };
    work.on_interrupt = [&given_up] { given_up = true; };  // a target may not answer: the process ends then
    (void)context.control.run(std::move(work));
    if (!ranks && !given_up && late())
        return environment_error(fmt::format("{}: no host within {}", shown, show_duration(*options.within)));
    return ranks;
}

/// Joins and waits until the run begins; where the host is lost before, joins the next one there. Errors: as
/// join_host; the host has ended.
Result<Met> meet_host(CommandContext& context, const Place& place, const seats::SeatKeys& keys) {
    for (;;) {
        auto ranks = join_host(context, place, keys);
        if (!ranks) return ranks.error();
        if (!context.options.quiet)
            context.log.info("joined as seat {} of {}; the host says when it begins", (*ranks)->rank() - 1,
                             (*ranks)->players());
        Result<Json> shared = interrupted_error();
        wait_for_ranks(
            context.control, **ranks, [&] { shared = (*ranks)->share({}); },
            [&] {
                for (const std::string& each : (*ranks)->newly_lost()) context.log.warn(each);
            });
        if (shared) {
            Met met{std::move(*ranks), {}};
            for (const auto& word : *shared) met.words.push_back(word.get<std::string>());
            return met;
        }
        const Error why = (*ranks)->why_rank_0_is_gone();
        if (!(*ranks)->may_rank_0_return()) {
            (void)(*ranks)->finish(kExitCannotRun);
            return why;
        }
        context.log.warn("{}: {}; it tries on", context.options.line.front(), why.problems.front());
    }
}

}  // namespace

int host_command(CommandContext& context) {
    const CliOptions& options = context.options;
    const auto place = read_place(options.given("--listen") ? options.listen : std::to_string(kPort), "*");
    if (!place) return report_error(context, place.error());
    target::read_no_named_files();
    const auto run = read_run(context);
    if (!run) return report_error(context, run.error());
    if (options.on_key && (options.quiet || !LivePlay::keys_possible()))
        return report_error(context, bad_input("--on-key: there is no terminal to press a key on"));
    const auto rule = start_rule(options);
    if (!rule) return report_error(context, rule.error());
    bool made = false;
    const auto keys = open_meeting_key(options.key, true, made);
    if (!keys) return report_error(context, keys.error());
    if (made && !options.quiet)
        context.log.info("{}: made: copy it to each seat, by a way that nobody else reads", options.key);
    auto ranks = Ranks::meet(
        {options.play.seats, place->address, place->port, *keys, version_of(context), run->targets});
    if (!ranks) return report_error(context, ranks.error());
    Result<std::shared_ptr<view::WebServer>> page(nullptr);
    if (!run->web.empty()) page = listen_for_page(context, run->web);
    const std::vector<std::string> join = join_lines(context, **ranks, *place);
    if (page) say_how_to_join(*run, join);
    const auto met =
        page ? wait_in_lobby(context, **ranks, *rule, run->words, join, *page) : Result<void>(page.error());
    if (!met) {
        (void)(*ranks)->finish(kExitCannotRun, met.error().problems.front());
        return report_error(context, met.error());
    }
    return run_together(context, **ranks, run->words, *page);
}

int join_command(CommandContext& context) {
    CliOptions& options = context.options;
    const auto place = read_place(options.line.front(), "");
    if (!place) return report_error(context, place.error());
    options.allow.insert(options.allow.end(), options.line.begin() + 1, options.line.end());
    bool made = false;
    const auto keys = open_meeting_key(options.key, false, made);
    if (!keys) return report_error(context, keys.error());
    target::allow_only(options.allow);
    target::read_no_named_files();
    if (!options.quiet) context.log.info("waiting for the host at {}", options.line.front());

    const auto met = meet_host(context, *place, *keys);
    if (!met) return report_error(context, met.error());
    if (auto done = check_words(met->words); !done) {
        (void)met->ranks->finish(kExitBadInput);
        return report_error(context, done.error());
    }
    return run_together(context, *met->ranks, met->words);
}

}  // namespace streamsim::cli
