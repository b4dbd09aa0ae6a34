#include "cli/play/live_play.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "view/screen.h"

namespace streamsim::cli {
namespace {

constexpr std::int64_t kLineEveryNs = 5'000'000'000;   // on a pipe
constexpr std::int64_t kRateWindowNs = 2'000'000'000;  // throughput is measured over it
constexpr std::int64_t kMessageNs = 8'000'000'000;     // a message stays in the view

/// Names the streams that are not over: "4 streams of dpx12 at 24 fps" where all play one format at one rate.
std::string streams_text(const GrowingList<run::StreamPlan>& plans,
                         const std::vector<view::StreamView>& streams) {
    std::size_t count = 0;
    const run::StreamPlan* first = nullptr;
    bool alike = true;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].over()) continue;
        ++count;
        if (first == nullptr) first = &plans[i];
        alike = alike && plans[i].format == first->format && plans[i].rate() == first->rate();
    }
    std::string out = fmt::format("{} stream{}", count, count == 1 ? "" : "s");
    if (first == nullptr || !alike) return out;
    out += " of " + first->format;
    return first->options.paced ? fmt::format("{} at {} fps", out, first->rate().to_string()) : out;
}

constexpr const char* kDiagnosing = "play has ended; diagnosing the cause: reads go on for some seconds";

/// Adds up the meters of all seats by name. Returns how far they are in their own time.
std::int64_t read_meters(const std::vector<load::MeterPlan>& plans, std::vector<view::MeterView>& into) {
    std::int64_t at_ns = 0;
    for (const load::MeterPlan& plan : plans) {
        if (plan.progress == nullptr) continue;
        auto view = std::find_if(into.begin(), into.end(),
                                 [&plan](const view::MeterView& each) { return each.name == plan.spec.name; });
        if (view == into.end()) {
            into.emplace_back();
            view = into.end() - 1;
            view->name = plan.spec.name;
        }
        view->counts.add(*plan.progress);
        at_ns = std::max(at_ns, plan.progress->at_ns.load(std::memory_order_relaxed));
    }
    return at_ns;
}

}  // namespace

bool LivePlay::keys_possible() {
    return view::LiveView::possible(STDERR_FILENO) && view::Screen::keys_possible(STDIN_FILENO);
}

LivePlay::LivePlay(CommandContext& context, run::Session& session, std::string about, bool streams_may_change)
    : context_(context),
      session_(session),
      about_(std::move(about)),
      streams_may_change_(streams_may_change),
      next_line_ns_(context.control.now_ns() + kLineEveryNs) {
    if (!view::LiveView::possible(STDERR_FILENO)) return;
    view_.emplace(STDERR_FILENO, keys_possible() ? STDIN_FILENO : -1,
                  view::LiveView::colours_wanted(STDERR_FILENO));
    drawing_ = true;
}

void LivePlay::tick() {
    const std::int64_t now_ns = context_.control.now_ns();
    if (view_) {
        for (const view::Key key : view_->typed()) obey(key);
    }
    const run::Session::Watch watch = session_.watch();
    if (watch.streams == nullptr) return;
    view::ViewState now = state(watch, now_ns);
    if (watch.diagnosing) now.message = kDiagnosing;
    const std::string also = also_ ? also_() : std::string();
    if (view_ && instead_) return draw_instead(now.message, also);
    if (now.message.empty()) now.message = also;
    if (view_) {
        view_->draw(std::move(now));
    } else if (watch.diagnosing) {
        if (!std::exchange(said_diagnosis_, true)) print_text(stderr, std::string(kDiagnosing) + "\n");
    } else if (now_ns >= next_line_ns_) {
        next_line_ns_ += kLineEveryNs;
        const std::string own = instead_ ? "" : view::progress_text(now) + (also.empty() ? "" : "  ");
        print_text(stderr, fmt::format("{}{}\n", own, printable(also)));
    }
}

void LivePlay::draw_instead(const std::string& message, const std::string& also) {
    view_->draw([&](int, int) {
        std::vector<view::ViewLine> lines = {{about_, view::Paint::strong}, {also}, {""}};
        for (view::ViewLine& line : instead_()) lines.push_back(std::move(line));
        lines.push_back({""});
        if (!message.empty()) lines.push_back({printable(message), view::Paint::warning});
        lines.push_back({"q quit with the result", view::Paint::faint});
        return lines;
    });
}

void LivePlay::obey(view::Key key) {
    if (key == view::Key::quit) {
        context_.control.interrupt();
    } else if (!streams_may_change_) {
        show("streams cannot be added to this run or removed from it");
    } else if (key == view::Key::add) {
        const auto added = session_.add_stream();
        show(added ? *added : "not added: " + added.error().problems.front());
    } else if (key == view::Key::remove) {
        remove_stream();
    }
}

/// Removes the stream that was selected, else the last one that plays.
void LivePlay::remove_stream() {
    const run::Session::Watch watch = session_.watch();
    if (watch.streams == nullptr) return;
    std::optional<std::size_t> which = view_->selected();
    for (std::size_t i = watch.streams->size(); i-- > 0 && !which;) {
        const StreamState each = (*watch.progress)[i].state.load(std::memory_order_relaxed);
        if (each != StreamState::ended && each != StreamState::removed) which = i;
    }
    if (!which) return;
    const auto removed = session_.remove_stream(*which);
    show(removed ? *removed : "not removed: " + removed.error().problems.front());
}

void LivePlay::show(const std::string& text) {
    const MutexLock lock(mutex_);
    message_ = text;
    new_message_ = true;
}

void LivePlay::say(const std::string& text) {
    const MutexLock lock(mutex_);
    if (!drawing_) {
        context_.log.warn(text);
        return;
    }
    held_back_.push_back(text);
    message_ = text;
    new_message_ = true;
}

void LivePlay::end() {
    if (view_) view_->leave();
    const MutexLock lock(mutex_);
    drawing_ = false;
    for (const std::string& text : held_back_) context_.log.warn(text);
    held_back_.clear();
}

view::ViewState LivePlay::state(const run::Session::Watch& watch, std::int64_t now_ns) {
    view::ViewState state;
    const std::size_t count = watch.streams->size();
    const bool seats =
        count > 0 && (watch.streams->back().options.seat > 0 || watch.streams->front().options.seat > 0);
    std::uint64_t bytes = 0;
    std::int64_t played_ns = 0;  // in the streams' own time
    for (std::size_t i = 0; i < count; ++i) {
        const run::StreamPlan& plan = (*watch.streams)[i];
        view::StreamView stream;
        stream.label = seats
                           ? fmt::format("seat {}, {} {}", plan.options.seat, plan.options.stream, plan.format)
                           : fmt::format("{} {}", plan.options.stream, plan.format);
        stream.short_label = seats ? fmt::format("{}.{}", plan.options.seat, plan.options.stream)
                                   : std::to_string(plan.options.stream);
        stream.clip = plan.name;
        stream.rate = plan.rate();
        stream.readahead = plan.options.readahead;
        stream.records = plan.record != nullptr;
        stream.read((*watch.progress)[i]);
        bytes += stream.bytes;
        if (plan.options.paced) {
            const std::int64_t begun_ns = (*watch.progress)[i].play_start_ns.load(std::memory_order_relaxed);
            const Duration start = begun_ns == INT64_MIN ? plan.start_offset : Duration{begun_ns};
            stream.frames_total = plan.options.slots;
            stream.period_ns = plan.rate().period().ns;
            if (stream.state != StreamState::removed) {
                state.total_ns = std::max(state.total_ns, (start + plan.rate().due(plan.options.slots)).ns);
            }
            if (begun_ns != INT64_MIN)
                played_ns = std::max(played_ns, (start + plan.rate().due(stream.due)).ns);
            const bool plays = stream.state == StreamState::playing || stream.state == StreamState::waiting;
            if (plays || (watch.started_ns == 0 && stream.state == StreamState::prerolling)) {
                state.required_bytes_per_s += plan.required_bytes_per_s();
            }
        }
        state.streams.push_back(std::move(stream));
    }
    if (const std::int64_t at_ns = read_meters(*watch.meters, state.meters);
        count == 0 && !state.meters.empty()) {
        played_ns = at_ns;
        state.total_ns = watch.play_time.ns;
        for (const view::MeterView& meter : state.meters)
            bytes += meter.counts.bytes_read + meter.counts.bytes_written;
    }
    state.title =
        count == 0 ? about_ : fmt::format("{} from {}", streams_text(*watch.streams, state.streams), about_);
    const std::int64_t real_ns = watch.started_ns > 0 ? now_ns - watch.started_ns : 0;
    state.elapsed_ns = watch.virtual_time ? played_ns : real_ns;
    if (state.total_ns > 0) state.elapsed_ns = std::min(state.elapsed_ns, state.total_ns);
    measure(bytes, watch.virtual_time ? played_ns : now_ns, state);
    history_.note(state.elapsed_ns, state);
    state.can_add = streams_may_change_;
    state.faults_injected = watch.faults_injected;
    const MutexLock lock(mutex_);
    if (std::exchange(new_message_, false)) message_ends_ns_ = now_ns + kMessageNs;
    if (now_ns < message_ends_ns_) state.message = message_;
    return state;
}

void LivePlay::measure(std::uint64_t bytes, std::int64_t at_ns, view::ViewState& state) {
    std::vector<view::MeterCounts> meters;
    for (const view::MeterView& meter : state.meters) meters.push_back(meter.counts);
    samples_.push_back({at_ns, bytes, std::move(meters)});
    while (samples_.size() > 2 && samples_[1].at_ns + kRateWindowNs <= at_ns) samples_.pop_front();
    const Sample& first = samples_.front();
    if (at_ns <= first.at_ns) return;
    state.bytes_per_s =
        static_cast<double>(bytes - first.bytes) * 1e9 / static_cast<double>(at_ns - first.at_ns);
    for (std::size_t i = 0; i < std::min(state.meters.size(), first.meters.size()); ++i)
        state.meters[i].measure(first.meters[i], at_ns - first.at_ns);
}

}  // namespace streamsim::cli
