#include "profile/strace/strace_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/units.h"
#include "profile/strace/strace_calls.h"
#include "profile/strace/strace_line.h"

namespace streamsim::profile {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;  // longer ones are none of strace's
/// A longer line ends the reading: a device may have no other end.
constexpr std::uint64_t kLineEnd = std::uint64_t{16} << 20;
constexpr std::int64_t kDay = 86'400'000'000'000;
/// Times that add up end here.
constexpr std::int64_t kLatest = static_cast<std::int64_t>(kSecondsMax) * 1'000'000'000;

/// A call that waits for its end.
struct Waiting {
    std::string name, text;
    std::int64_t begin_ns = 0;
    std::optional<std::uint32_t> child;  // that the call began, and that acts already
};

struct Thread {
    TracedProcess process;
    std::optional<Waiting> waiting;
};

/// A file of the log with the line that it is at.
struct Lines {
    explicit Lines(const StraceFile& log_file) : file(log_file) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    StraceFile file;
    std::string text;
    std::optional<StraceLine> line;  // empty: strace did not write it
    bool endless = false;            // the line is longer than kLineEnd
    std::uint64_t number = 0, bytes = 0;
    std::int64_t time_ns = 0;
    bool past_midnight = false;  // by a time of day

    /// Goes to the next line; false at the end.
    bool next() {
        if (!read()) return false;
        ++number;
        line = text.size() > kLineBytesMax ? std::nullopt : parse_strace_line(text);
        if (!line) return true;
        if (!line->pid) line->pid = file.pid;
        take_time();
        return true;
    }

private:
    /// A line that is too long is cut off behind its limit.
    bool read() {
        constexpr int kEnd = std::char_traits<char>::eof();
        std::streambuf& from = *file.text->rdbuf();
        text.clear();
        int c = from.sbumpc();
        if (c == kEnd) return false;
        const std::uint64_t begin = bytes;
        for (; c != kEnd && c != '\n' && bytes - begin < kLineEnd; c = from.sbumpc()) {
            ++bytes;
            if (text.size() <= kLineBytesMax) text += static_cast<char>(c);
        }
        endless = bytes - begin >= kLineEnd;
        ++bytes;
        return true;
    }
    void take_time() {
        switch (line->clock) {
            case StraceLine::Clock::none: return;
            case StraceLine::Clock::relative: time_ns = std::min(time_ns + line->time_ns, kLatest); return;
            case StraceLine::Clock::epoch: time_ns = line->time_ns; return;
            case StraceLine::Clock::of_day:
                if (day_ns_ + line->time_ns < time_ns - kDay / 2) {
                    past_midnight = true;
                    day_ns_ = std::min(day_ns_ + kDay, kLatest - kDay);
                }
                time_ns = day_ns_ + line->time_ns;
                return;
        }
    }

    std::int64_t day_ns_ = 0;
};

constexpr std::uint32_t kNoPid = 0;

bool begins_process(std::string_view name) {
    return name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
}

class StraceReader {
public:
    void take(const Lines& at) {
        ++lines_;
        if (!at.line) return not_understood(at);
        const StraceLine& line = *at.line;
        using Kind = StraceLine::Kind;
        if (line.kind == Kind::nothing) return;
        if (line.kind == Kind::attached) {  // it may act before the call that began it has ended
            if (first_ && !threads_.contains(*line.pid) && begin_early(*line.pid) == nullptr)
                threads_[*line.pid].process = threads_.at(*first_).process;
            return;
        }
        if (line.clock != StraceLine::Clock::none) timed_ = true;
        if (line.clock == StraceLine::Clock::relative) relative_ = true;
        if (line.whole_seconds) whole_seconds_ = true;
        const std::uint32_t pid = line.pid.value_or(first_.value_or(kNoPid));
        if (line.kind == Kind::ended) {
            if (pid != first_) threads_.erase(pid);
            return;
        }
        Thread& whose = thread(pid, line.kind);
        if (line.kind == Kind::call) {
            complete(at, whose, {line.name, line.text, at.time_ns});
        } else if (line.kind == Kind::unfinished) {
            whose.waiting = Waiting{std::string(line.name), std::string(line.text), at.time_ns, {}};
            if (begins_process(line.name)) beginning_.push_back(pid);
            if (line.name == "close") begin_close(traffic_, whose.process, line.text);
        } else if (whose.waiting && whose.waiting->name == line.name) {
            const Waiting begun = std::move(*whose.waiting);
            whose.waiting.reset();
            const std::string text = begun.text + std::string(line.text);
            complete(at, whose, {begun.name, text, begun.begin_ns, true, begun.child});
        } else {
            traffic_.note("the end of a call whose beginning is not in the log is left out");
        }
    }

    Result<Traffic> finish(const std::string& source) {
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
                "calls have no durations (strace -T): they are taken to take no time, so that nothing "
                "overlaps");
        return traffic_.finish(source, "strace", durations_);
    }

    bool relative() const { return relative_; }
    bool whole_seconds() const { return whole_seconds_; }

private:
    /// A call with its line, from its beginning on.
    struct Begun {
        std::string_view name, text;
        std::int64_t begin_ns = 0;
        bool waited = false;  // its beginning is a line of its own
        std::optional<std::uint32_t> child;
    };

    Thread& thread(std::uint32_t pid, StraceLine::Kind kind) {
        auto found = threads_.find(pid);
        if (found != threads_.end()) return found->second;
        if (kind != StraceLine::Kind::resumed) {
            if (Thread* const fresh = begin_early(pid)) return *fresh;
        }
        if (first_ && *first_ == kNoPid && pid != kNoPid) {
            // While there is one process only, strace writes no process id.
            auto node = threads_.extract(kNoPid);
            node.key() = pid;
            first_ = pid;
            return threads_.insert(std::move(node)).position->second;
        }
        Thread& fresh = threads_[pid];
        if (first_) {
            // The log does not show the start of this process, which is most likely a thread of the first one.
            fresh.process = threads_.at(*first_).process;
        } else {
            first_ = pid;
            fresh.process = {traffic_.add_user(""), std::make_shared<Descriptors>(),
                             std::make_shared<std::string>()};
        }
        return fresh;
    }

    void not_understood(const Lines& at) {
        ++strange_;
        constexpr std::size_t kShown = 5, kColumns = 60;
        if (strange_lines_.size() == kShown) return;
        std::string shown = at.text.substr(0, kColumns);
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
        strange_lines_.push_back(fmt::format(
            "{}: line {}: '{}': expected a line of strace, such as '12:34:56.789012 read(3, \"\"..., "
            "4096) = 4096 <0.000012>'",
            at.file.name, at.number, shown));
    }

    /// By clone, fork and their kin: it has the parent's descriptors, or a copy of them.
    TracedProcess child_of(const TracedProcess& parent, std::string_view arguments) {
        const bool is_thread = arguments.find("CLONE_THREAD") != std::string_view::npos;
        const bool shares = is_thread || arguments.find("CLONE_FILES") != std::string_view::npos;
        TracedProcess child = parent;
        if (!is_thread) child.user = traffic_.add_user("");
        if (!shares) {
            child.descriptors = std::make_shared<Descriptors>(*child.descriptors);
            child.directory = std::make_shared<std::string>(*child.directory);
        }
        return child;
    }

    /// A process that acts before the call that began it has ended: the longest of these calls that has none
    /// yet. Null: there is no such call.
    Thread* begin_early(std::uint32_t pid) {
        while (!beginning_.empty()) {
            const auto parent = threads_.find(beginning_.front());
            beginning_.pop_front();
            if (parent == threads_.end() || !parent->second.waiting) continue;
            Waiting& waiting = *parent->second.waiting;
            if (!begins_process(waiting.name) || waiting.child) continue;
            waiting.child = pid;
            TracedProcess child = child_of(parent->second.process, waiting.text);
            Thread& fresh = threads_[pid];
            fresh.process = std::move(child);
            return &fresh;
        }
        return nullptr;
    }

    void complete(const Lines& at, Thread& thread, const Begun& begun) {
        const auto call = parse_strace_call(begun.text);
        if (!call) {
            // exit_group(0) = ? and what the end of the log cut off are no mistakes of anybody.
            if (!at.text.empty()) not_understood(at);
            return;
        }
        ++calls_seen_;
        if (call->duration_ns) durations_ = true;
        if (begins_process(begun.name)) {
            if (call->result <= 0 || call->result > UINT32_MAX || begun.child == call->result) return;
            // A call of the child that waits stays.
            threads_[static_cast<std::uint32_t>(call->result)].process = child_of(thread.process, begun.text);
            return;
        }
        if (begun.waited && begun.name == "close") return;  // its beginning has closed
        const std::int64_t waited = at.time_ns - begun.begin_ns;
        follow_call(
            traffic_, thread.process,
            {begun.name, *call, begun.begin_ns, call->duration_ns.value_or(std::max<std::int64_t>(0, waited))});
    }

    TrafficBuilder traffic_;
    std::unordered_map<std::uint32_t, Thread> threads_;
    std::optional<std::uint32_t> first_;   // the process that everything began with
    std::deque<std::uint32_t> beginning_;  // threads in calls that begin a process, and some that were
    std::uint64_t lines_ = 0, strange_ = 0, calls_seen_ = 0;
    std::vector<std::string> strange_lines_;
    bool timed_ = false, durations_ = false, relative_ = false, whole_seconds_ = false;
};

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
    constexpr std::uint64_t kLinesBetweenReports = 4096;
    for (std::uint64_t count = 0; !all.empty(); ++count) {
        if (count % kLinesBetweenReports == 0) {
            std::uint64_t bytes = ended_bytes;
            for (const Lines& lines : all) bytes += lines.bytes;
            if (!progress(bytes)) return interrupted_error();
        }
        // Each file is in order of time, and so is what is read of all of them.
        const auto first = std::ranges::min_element(all, {}, &Lines::time_ns);
        if (first->endless) {
            return bad_input(fmt::format("{}: line {} is longer than {} bytes: expected a line of strace",
                                         first->file.name, first->number, kLineEnd));
        }
        reader.take(*first);
        if (reader.whole_seconds()) {
            return bad_input(fmt::format(
                "{}: line {}: its time is in whole seconds (-t), in which many calls begin: expected strace "
                "with -ttt, -tt or -r (and -T, -f, -y)",
                first->file.name, first->number));
        }
        if (files.size() > 1 && reader.relative()) {
            return bad_input(fmt::format(
                "{}: has times that count from the line before (-r), and there are several files: expected "
                "strace -ff with -ttt or -tt, so that they can be put in order",
                first->file.name));
        }
        if (!first->next()) {
            ended_bytes += first->bytes;
            all.erase(first);
        } else if (files.size() > 1 && first->past_midnight) {
            return bad_input(fmt::format(
                "{}: line {}: goes past midnight, and there are several files, none with a date: expected "
                "strace -ff with -ttt, so that they can be put in order",
                first->file.name, first->number));
        }
    }
    return reader.finish(source);
}

}  // namespace streamsim::profile
