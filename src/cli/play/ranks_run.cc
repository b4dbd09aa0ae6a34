#include "cli/play/ranks_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include "base/system/utf8_path.h"
#include "result/merge.h"

namespace streamsim::cli {
namespace {

std::string directory_of(const std::string& file) {
    return utf8_text(utf8_path(file == "-" ? "" : file).parent_path());
}

/// Multiplies the seats by the number of ranks; rank 0 alone writes files and messages.
void become_one_of_many(seats::Ranks& ranks, CliOptions& options) {
    run::PlayRequest& play = options.play;
    play.seats *= ranks.players();
    for (run::MeterPart& part : play.meters) part.seats *= ranks.players();
    ranks.assign_seats(play.seats);
    play.first_seat = ranks.first_seat();
    play.own_seats = ranks.own_seats();
    play.only_leads = ranks.only_leads();
    play.keep_histograms = true;
    play.keep_frames = options.files.need_frames();  // rank 0 writes those of all
    options.journal_beside = directory_of(options.files.json);
    if (ranks.first()) return;
    options.quiet = true;
    options.files = {};
    options.metrics.clear();
    options.web.clear();
}

}  // namespace

void wait_for_ranks(run::Control& control,
                    seats::Ranks& ranks,
                    const std::function<void()>& wait,
                    const std::function<void()>& meanwhile) {
    const auto ended = std::make_shared<std::promise<void>>();
    run::Control::Work work;
    work.run = [&wait, ended] {
        wait();
        ended->set_value();
    };
    work.on_interrupt = [&ranks] { ranks.stop(); };
    work.on_tick = meanwhile;
    work.timeout.reset();
    // A second signal leaves the wait behind; the wait ends at once then, as ranks.stop() has ended all waits.
    if (!control.run(std::move(work))) ended->get_future().wait();
}

Result<void> agree_on_command(CliContext& context, run::Control& control, Result<ParsedCommandLine>& parsed) {
    seats::Ranks& ranks = *context.ranks;
    Result<void> own;
    if (!parsed) {
        own = parsed.error();
    } else if (parsed->options.play.target.kind == target::Target::Kind::model) {
        own = bad_input(kModelIsForOne);
    }
    Result<void> agreed;
    wait_for_ranks(control, ranks, [&] {
        const run::ProgramFacts& program = context.program;
        std::vector<std::string> alike = program.command;
        alike.front() = fmt::format("streamsim {} ({})", program.version, program.revision);
        agreed = ranks.gather(alike);
        if (agreed) agreed = ranks.agree(own);
    });
    if (agreed) become_one_of_many(ranks, parsed->options);
    return agreed;
}

Result<void> together(CommandContext& context, const Result<void>& own) {
    if (context.ranks == nullptr) return own;
    Result<void> agreed;
    wait_for_ranks(context.control, *context.ranks, [&] { agreed = context.ranks->agree(own); });
    return agreed;
}

std::string incomplete_seat(const RunResult& result) {
    for (const SeatResult& seat : result.seats) {
        if (seat.state != SeatResult::State::complete)
            return fmt::format("{}: {}", result::seat_name(seat), seat.why);
    }
    return "";
}

}  // namespace streamsim::cli
