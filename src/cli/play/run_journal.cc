#include "cli/play/run_journal.h"

#include <fmt/format.h>

#include <utility>

#include "base/prng.h"
#include "result/merge.h"

namespace streamsim::cli {

RunPart part_alone(const run::PlayRequest& request) {
    RunPart part;
    part.run_id = fmt::format("{:016x}", entropy64());
    part.become = [run_id = part.run_id, seats = request.seats](RunResult& result, const std::string& journal) {
        SeatResult own;
        for (std::uint32_t seat = 0; seat < seats; ++seat) own.seats.push_back(seat);
        if (!result.streams.empty()) own.start_ns = 0;
        own.journal = journal;
        result::become_part(run_id, 1, std::move(own), result);
    };
    return part;
}

Result<void> RunJournal::open(const std::string& directory,
                              RunPart part,
                              RunResult before_play,
                              seats::Journal::Notice notice) {
    part_ = std::move(part);
    const std::string path = fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/",
                                         seats::Journal::file_name(part_.rank, part_.run_id));
    part_.become(before_play, path);
    const auto tell = [problems = problems_, notice = std::move(notice)](const std::string& text) {
        {
            const std::lock_guard lock(problems->mutex);
            problems->texts.push_back(text);
        }
        notice(text);
    };
    auto journal = seats::Journal::open(path, before_play, tell);
    if (!journal) return journal.error();
    journal_ = std::move(*journal);
    return {};
}

void RunJournal::follow(run::Session& session) {
    if (journal_ == nullptr) return;
    journal_->follow([this, &session] {
        std::optional<RunResult> result = session.snapshot();
        if (result) part_.become(*result, journal_->path());
        return result;
    });
}

void RunJournal::stop() {
    journal_.reset();
}

void RunJournal::finish(RunResult& result) {
    if (journal_ == nullptr) return;
    part_.become(result, journal_->path());
    journal_->finish(result);
    journal_.reset();
    const std::lock_guard lock(problems_->mutex);
    for (const std::string& text : problems_->texts) result.notices.push_back(text);
    problems_->texts.clear();
}

}  // namespace streamsim::cli
