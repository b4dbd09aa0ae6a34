// host and join: seats that are started by hand, or by anything, meet and become the ranks of one run.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/document/json.h"
#include "cli/commands/commands.h"
#include "cli/play/meeting_key.h"
#include "cli/play/ranks_run.h"
#include "run/process/control.h"
#include "seats/ranks.h"
#include "target/allowed_places.h"

namespace streamsim::cli {
namespace {

using seats::Ranks;

constexpr std::uint16_t kPort = 9470;
/// A host without --within waits so long.
constexpr Duration kForEver = seconds(1'000'000'000);

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

/// Does the run with all that have met.
int run_together(CommandContext& context, Ranks& ranks, const std::vector<std::string>& words) {
    CliContext of_run{context.log, context.program, &ranks};
    of_run.program.command = words;
    return ranks.finish(context.run_words(of_run, context.control));
}

void say_where(CommandContext& context, const Ranks& ranks, const Place& place) {
    std::vector<std::string> addresses = {place.address};
    if (place.address == "*") addresses = ranks.join_token().addresses;
    if (addresses.empty()) addresses = {"127.0.0.1"};
    std::string text;
    for (const std::string& address : addresses)
        text += fmt::format("streamsim join {} --key {} --allow PATH\n", shown_place(address, place.port),
                            context.options.key);
    const bool taken = std::ranges::count(context.options.line, "-") > 0;  // by a document
    print_text(taken ? stderr : stdout, text);
    std::fflush(stdout);
}

}  // namespace

int host_command(CommandContext& context) {
    const CliOptions& options = context.options;
    const auto place = read_place(options.given("--listen") ? options.listen : std::to_string(kPort), "*");
    if (!place) return report_error(context, place.error());
    const std::vector<std::string> words = words_of_run(options);
    if (auto done = check_words(words); !done) return report_error(context, done.error());
    bool made = false;
    const auto keys = open_meeting_key(options.key, true, made);
    if (!keys) return report_error(context, keys.error());
    if (made && !options.quiet)
        context.log.info("{}: made: copy it to each seat, by a way that nobody else reads", options.key);
    auto ranks = Ranks::meet({options.play.seats, place->address, place->port, *keys});
    if (!ranks) return report_error(context, ranks.error());
    say_where(context, **ranks, *place);
    Result<void> met;
    wait_for_ranks(context.control, **ranks, [&] {
        met = (*ranks)->wait_for_seats(options.quorum.value_or(options.play.seats),
                                       options.within.value_or(kForEver),
                                       [&](const std::string& what) { context.log.info(what); });
        if (met && !(*ranks)->share(Json(words))) met = interrupted_error();
    });
    if (!met) {
        (*ranks)->stop();
        (void)(*ranks)->finish(kExitCannotRun);
        return report_error(context, met.error());
    }
    return run_together(context, **ranks, words);
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
    if (!options.quiet) context.log.info("waiting for the host at {}", options.line.front());

    Result<std::unique_ptr<Ranks>> ranks = interrupted_error();
    std::atomic<bool> given_up = false;
    run::Control::Work work;
    work.run = [&] {
        ranks = Ranks::join_meeting(
            {1, place->address, place->port, *keys}, options.workload_name, options.allow,
            [&given_up] { return given_up.load(); },
            [&context, &options](const std::string& why) {
                context.log.warn("{}: {}; it tries on", options.line.front(), why);
            });
    };
    work.on_interrupt = [&given_up] { given_up = true; };
    work.timeout.reset();
    (void)context.control.run(std::move(work));
    if (!ranks) return report_error(context, ranks.error());
    if (!options.quiet)
        context.log.info("joined as seat {} of {}; the host says when it begins", (*ranks)->rank() - 1,
                         (*ranks)->players());
    Result<Json> shared = interrupted_error();
    wait_for_ranks(context.control, **ranks, [&] { shared = (*ranks)->share({}); });
    if (!shared) {
        (void)(*ranks)->finish(kExitCannotRun);
        return report_error(context, (*ranks)->why_rank_0_is_gone());
    }
    std::vector<std::string> words;
    for (const auto& word : *shared) words.push_back(word.get<std::string>());
    if (auto done = check_words(words); !done) {
        (void)(*ranks)->finish(kExitBadInput);
        return report_error(context, done.error());
    }
    return run_together(context, **ranks, words);
}

}  // namespace streamsim::cli
