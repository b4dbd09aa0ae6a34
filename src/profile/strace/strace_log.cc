#include "profile/strace/strace_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <unordered_map>

#include "base/units.h"
#include "profile/strace/strace_calls.h"
#include "profile/strace/strace_line.h"

namespace streamsim::profile {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;  // longer ones are none of strace's
/// A longer line ends the reading: a device may have no other end.
constexpr std::uint64_t kLineEnd = std::uint64_t{16} << 20;
constexpr std::int64_t kDay = 86'400'000'000'000;

/// A call that waits for its end.
struct Waiting {
    std::string name, text;
    std::int64_t begin_ns = 0;
};

struct Thread {
    TracedProcess process;
    std::optional<Waiting> waiting;
};

/// A file of the log with the line that it is at.
class Lines {
public:
    explicit Lines(const StraceFile& file) : file_(file) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    const std::string& name() const { return file_.name; }
    std::uint64_t number() const { return number_; }
    std::uint64_t bytes() const { return bytes_; }
    std::int64_t time_ns() const { return time_ns_; }
    /// Empty: strace did not write the current line.
    const std::optional<StraceLine>& line() const { return line_; }
    const std::string& text() const { return text_; }
    /// The current line is longer than kLineEnd.
    bool endless() const { return endless_; }

    /// Goes to the next line; false at the end.
    bool next() {
        if (!read()) return false;
        ++number_;
        line_ = text_.size() > kLineBytesMax ? std::nullopt : parse_strace_line(text_);
        if (!line_) return true;
        if (!line_->pid) line_->pid = file_.pid;
        take_time();
        return true;
    }

private:
    /// A line that is too long is cut off behind its limit.
    bool read() {
        constexpr int kEnd = std::char_traits<char>::eof();
        std::streambuf& from = *file_.text->rdbuf();
        text_.clear();
        int c = from.sbumpc();
        if (c == kEnd) return false;
        const std::uint64_t begin = bytes_;
        for (; c != kEnd && c != '\n' && bytes_ - begin < kLineEnd; c = from.sbumpc()) {
            ++bytes_;
            if (text_.size() <= kLineBytesMax) text_ += static_cast<char>(c);
        }
        endless_ = bytes_ - begin >= kLineEnd;
        ++bytes_;
        return true;
    }
    void take_time() {
        switch (line_->clock) {
            case StraceLine::Clock::none: return;
            case StraceLine::Clock::relative: time_ns_ += line_->time_ns; return;
            case StraceLine::Clock::epoch: time_ns_ = line_->time_ns; return;
            case StraceLine::Clock::of_day:
                if (day_ns_ + line_->time_ns < time_ns_ - kDay / 2) day_ns_ += kDay;  // past midnight
                time_ns_ = day_ns_ + line_->time_ns;
                return;
        }
    }

    StraceFile file_;
    bool endless_ = false;
    std::string text_;
    std::optional<StraceLine> line_;
    std::uint64_t number_ = 0, bytes_ = 0;
    std::int64_t time_ns_ = 0, day_ns_ = 0;
};

class StraceReader {
public:
    StraceReader() : calls_(traffic_) {}

    void take(const Lines& at);
    Result<Traffic> finish(const std::string& source);
    bool relative() const { return relative_; }

private:
    Thread& thread(std::uint32_t pid);
    void complete(
        const Lines& at, Thread& thread, std::string_view name, std::string_view text, std::int64_t begin_ns);
    void begin_process(Thread& parent, const StraceCall& call);
    void not_understood(const Lines& at);

    TrafficBuilder traffic_;
    StraceCalls calls_;
    std::unordered_map<std::uint32_t, std::unique_ptr<Thread>> threads_;
    std::optional<std::uint32_t> first_;  // the process that everything began with
    std::uint64_t lines_ = 0, strange_ = 0, calls_seen_ = 0;
    std::vector<std::string> strange_lines_;
    bool timed_ = false, durations_ = false, relative_ = false;
};

constexpr std::uint32_t kNoPid = 0;

Thread& StraceReader::thread(std::uint32_t pid) {
    auto found = threads_.find(pid);
    if (found != threads_.end()) return *found->second;
    if (first_ && *first_ == kNoPid && pid != kNoPid) {
        // While there is one process only, strace writes no process id.
        auto node = threads_.extract(kNoPid);
        node.key() = pid;
        first_ = pid;
        return *threads_.insert(std::move(node)).position->second;
    }
    auto fresh = std::make_unique<Thread>();
    if (first_) {
        // The log does not show the start of this process, which is most likely a thread of the first one.
        fresh->process = threads_.at(*first_)->process;
    } else {
        first_ = pid;
        fresh->process = {traffic_.add_user(""), std::make_shared<Descriptors>(),
                          std::make_shared<std::string>()};
    }
    return *threads_.emplace(pid, std::move(fresh)).first->second;
}

void StraceReader::not_understood(const Lines& at) {
    ++strange_;
    constexpr std::size_t kShown = 5, kColumns = 60;
    if (strange_lines_.size() == kShown) return;
    std::string shown = at.text().substr(0, kColumns);
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
    strange_lines_.push_back(
        fmt::format("{}: line {}: '{}': expected a line of strace, such as '12:34:56.789012 read(3, \"\"..., "
                    "4096) = 4096 <0.000012>'",
                    at.name(), at.number(), shown));
}

/// clone, fork and their kin: the child has the parent's descriptors, or a copy of them.
void StraceReader::begin_process(Thread& parent, const StraceCall& call) {
    if (call.result <= 0 || call.result > UINT32_MAX) return;
    std::string flags;
    for (const std::string_view each : call.arguments) flags += each;
    const bool is_thread = flags.find("CLONE_THREAD") != std::string::npos;
    const bool shares = is_thread || flags.find("CLONE_FILES") != std::string::npos;
    auto child = std::make_unique<Thread>();
    child->process = parent.process;
    if (!is_thread) child->process.user = traffic_.add_user("");
    if (!shares) {
        child->process.descriptors = std::make_shared<Descriptors>(*parent.process.descriptors);
        child->process.directory = std::make_shared<std::string>(*parent.process.directory);
    }
    const auto pid = static_cast<std::uint32_t>(call.result);
    const auto known = threads_.find(pid);
    // Its first lines may stand before the end of the call that began it.
    if (known != threads_.end()) child->waiting = std::move(known->second->waiting);
    threads_[pid] = std::move(child);
}

void StraceReader::complete(
    const Lines& at, Thread& thread, std::string_view name, std::string_view text, std::int64_t begin_ns) {
    const auto call = parse_strace_call(text);
    if (!call) {
        // exit_group(0) = ? and what the end of the log cut off are no mistakes of anybody.
        if (!at.text().empty()) not_understood(at);
        return;
    }
    ++calls_seen_;
    if (call->duration_ns) durations_ = true;
    if (name == "clone" || name == "clone3" || name == "fork" || name == "vfork") {
        begin_process(thread, *call);
        return;
    }
    const std::int64_t waited = at.time_ns() - begin_ns;
    calls_.apply(thread.process,
                 {name, *call, begin_ns, call->duration_ns.value_or(std::max<std::int64_t>(0, waited))});
}

void StraceReader::take(const Lines& at) {
    ++lines_;
    if (!at.line()) return not_understood(at);
    const StraceLine& line = *at.line();
    using Kind = StraceLine::Kind;
    if (line.kind == Kind::nothing) return;
    if (line.kind == Kind::attached) {  // it may act before the call that began it has ended
        if (first_ && !threads_.contains(*line.pid)) {
            auto fresh = std::make_unique<Thread>();
            fresh->process = threads_.at(*first_)->process;
            threads_.emplace(*line.pid, std::move(fresh));
        }
        return;
    }
    if (line.clock != StraceLine::Clock::none) timed_ = true;
    if (line.clock == StraceLine::Clock::relative) relative_ = true;
    const std::uint32_t pid = line.pid.value_or(first_.value_or(kNoPid));
    if (line.kind == Kind::ended) {
        if (pid != first_) threads_.erase(pid);
        return;
    }
    Thread& whose = thread(pid);
    if (line.kind == Kind::call) {
        complete(at, whose, line.name, line.text, at.time_ns());
    } else if (line.kind == Kind::unfinished) {
        whose.waiting = Waiting{std::string(line.name), std::string(line.text), at.time_ns()};
    } else if (whose.waiting && whose.waiting->name == line.name) {
        const Waiting begun = std::move(*whose.waiting);
        whose.waiting.reset();
        complete(at, whose, begun.name, begun.text + std::string(line.text), begun.begin_ns);
    } else {
        traffic_.note("the end of a call whose beginning is not in the log is left out");
    }
}

Result<Traffic> StraceReader::finish(const std::string& source) {
    if (lines_ == 0) return bad_input(fmt::format("{}: is empty, expected a log of strace", source));
    if (calls_seen_ == 0 || strange_ * 10 > lines_) {
        if (strange_lines_.empty())
            return bad_input(fmt::format("{}: holds no call, expected a log of strace", source));
        return Error{ErrorKind::bad_input, strange_lines_};
    }
    if (!timed_) {
        return bad_input(fmt::format(
            "{}: its lines have no times: expected strace with -ttt, -tt or -r (and -T, -f, -y)", source));
    }
    if (strange_ > 0)
        traffic_.note(fmt::format("{} of {} lines are none of strace's and were left out; the first: {}",
                                  show_count(strange_), show_count(lines_), strange_lines_.front()));
    if (!durations_)
        traffic_.note(
            "calls have no durations (strace -T): they are taken to take no time, so that nothing overlaps");
    return traffic_.finish(source, "strace", durations_);
}

}  // namespace

Result<Traffic> read_strace_log(const std::string& source,
                                const std::vector<StraceFile>& files,
                                const ReadingProgress& progress) {
    StraceReader reader;
    std::list<Lines> all;  // they stay in place: a line's parts point into it
    for (const StraceFile& file : files) {
        all.emplace_back(file);
        if (!all.back().next()) all.pop_back();
    }
    std::uint64_t ended_bytes = 0;
    constexpr std::uint64_t kLinesBetween = 4096;
    for (std::uint64_t count = 0; !all.empty(); ++count) {
        if (count % kLinesBetween == 0) {
            std::uint64_t bytes = ended_bytes;
            for (const Lines& lines : all) bytes += lines.bytes();
            if (!progress(bytes)) return interrupted_error();
        }
        // Each file is in order of time, and so is what is read of all of them.
        const auto first = std::min_element(all.begin(), all.end(), [](const Lines& one, const Lines& other) {
            return one.time_ns() < other.time_ns();
        });
        if (first->endless()) {
            return bad_input(fmt::format("{}: line {} is longer than {} bytes: expected a line of strace",
                                         first->name(), first->number(), kLineEnd));
        }
        reader.take(*first);
        if (files.size() > 1 && reader.relative()) {
            return bad_input(fmt::format(
                "{}: has times that count from the line before (-r), and there are several files: expected "
                "strace -ff with -ttt or -tt, so that they can be put in order",
                first->name()));
        }
        if (first->next()) continue;
        ended_bytes += first->bytes();
        all.erase(first);
    }
    return reader.finish(source);
}

}  // namespace streamsim::profile
