#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <numeric>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/indexing.h"
#include "media/media_set.h"
#include "report/csv_report.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "run/control.h"
#include "view/live_view.h"
#include "view/progress_bar.h"

namespace streamsim {
namespace {

constexpr std::string_view kResultBegins = "{\n  \"schema\": \"streamsim.result\"";

/// One play or prepare: what its steps share.
class MediaCommand {
public:
    MediaCommand(CliContext& context, Control& control, CliOptions& options)
        : context_(context),
          control_(control),
          options_(options),
          store_(make_byte_store(options.play.target)) {}

    int prepare_only();
    int play();

private:
    Result<void> open_outputs();
    Result<void> choose_formats();
    Result<void> prepare_missing();
    void say_plan(const PreparePlan& plan);
    Result<void> write_media(const PreparePlan& plan);
    template <typename T>
    Result<T> in_background(std::function<Result<T>()> function);
    Result<FoundMedia> find();
    int play_media(FoundMedia media);
    void draw(LiveView& view, const Session::Watch& watch);
    int interrupted_before_play();
    [[noreturn]] static void leave(int code);
    int write_results(const RunResult& result);

    CliContext& context_;
    Control& control_;
    CliOptions& options_;
    std::unique_ptr<ByteStore> store_;
    OutputFile json_;
    OutputFile csv_;
    bool left_behind_ = false;  // a thread is still in a call that does not return
    std::uint64_t last_bytes_ = 0;
    std::int64_t last_draw_ns_ = 0;
};

/// Runs something that may block for long (an index of a slow server). An interruption leaves it behind.
template <typename T>
Result<T> MediaCommand::in_background(std::function<Result<T>()> function) {
    auto result = std::make_shared<std::optional<Result<T>>>();
    const bool ended = control_.run({[function, result] { result->emplace(function()); }, {}, {}});
    left_behind_ = left_behind_ || !ended;
    if (!ended || control_.interrupted()) return interrupted_error();
    return std::move(**result);
}

Result<void> MediaCommand::open_outputs() {
    if (!options_.json.empty()) {
        auto file = OutputFile::prepare(options_.json, kResultBegins);
        if (!file) return file.error();
        json_ = std::move(*file);
    }
    if (!options_.csv.empty()) {
        auto file = OutputFile::prepare(options_.csv, csv_header());
        if (!file) return file.error();
        csv_ = std::move(*file);
    }
    return {};
}

/// dpx12 is what a target without media of its own gets; a cut list brings its own.
Result<void> MediaCommand::choose_formats() {
    if (!options_.play.formats.empty() || options_.play.cuts) return {};
    bool wanted = store_ == nullptr || options_.command == CliOptions::Command::prepare;
    if (!wanted) {
        auto empty =
            in_background<bool>([this] { return is_empty_directory(*store_, options_.play.target.path); });
        if (!empty) return empty.error();
        wanted = *empty;
    }
    if (!wanted) return {};
    options_.play.formats.push_back(options_.default_format);
    return {};
}

void MediaCommand::say_plan(const PreparePlan& plan) {
    if (options_.quiet) return;
    const std::size_t clips = plan.missing.size();
    context_.log.info("writing {} of media: {} clip{} of {}, {} frames each, to {} ({} free)",
                      show_bytes(plan.bytes_to_write), clips, clips == 1 ? "" : "s", plan.request.format.name,
                      show_count(plan.frames), plan.directory, show_bytes(plan.bytes_free));
}

Result<void> MediaCommand::write_media(const PreparePlan& plan) {
    struct Shared {  // lives as long as the thread that writes
        PreparePlan plan;
        PrepareProgress progress;
        std::optional<Result<void>> result;
    };
    const auto shared = std::make_shared<Shared>();
    shared->plan = plan;
    ProgressBar bar(STDERR_FILENO, LiveView::possible(STDERR_FILENO), "writing media", plan.bytes_to_write);
    const std::int64_t begin_ns = control_.now_ns();
    Control::Work work;
    work.run = [shared, this] { shared->result.emplace(prepare(*store_, shared->plan, shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    if (!options_.quiet) {
        work.on_tick = [&] { bar.update(shared->progress.bytes_done, control_.now_ns() - begin_ns); };
    }
    if (!control_.run(std::move(work))) {
        left_behind_ = true;
        return interrupted_error();
    }
    const Result<void>& result = *shared->result;
    if (result && !options_.quiet) bar.finish(shared->progress.bytes_done, control_.now_ns() - begin_ns);
    return result;
}

Result<void> MediaCommand::prepare_missing() {
    if (store_ == nullptr || options_.play.formats.empty()) return {};
    auto plans =
        in_background<std::vector<PreparePlan>>([this] { return missing_media(*store_, options_.play); });
    if (!plans) return plans.error();
    for (const PreparePlan& plan : *plans) say_plan(plan);
    for (const PreparePlan& plan : *plans) {
        if (auto written = write_media(plan); !written) return written;
    }
    return {};
}

int MediaCommand::prepare_only() {
    if (store_ == nullptr)
        return report_error(context_, bad_input("prepare needs a directory: expected a path"));
    auto done = choose_formats();
    if (done) done = prepare_missing();
    if (done && !options_.quiet) {
        for (const MediaFormat& format : options_.play.formats) {
            fmt::print("{} {} of {} ready below {}/{}\n", clips_needed(options_.play),
                       clips_needed(options_.play) == 1 ? "clip" : "clips", format.name,
                       options_.play.target.path, kMediaDirectory);
        }
    }
    const int code = done ? kExitPass : report_error(context_, done.error());
    if (left_behind_) leave(code);
    return code;
}

int MediaCommand::play() {
    if (auto opened = open_outputs(); !opened) return report_error(context_, opened.error());
    auto done = choose_formats();
    if (done) done = memory_suffices(options_.play);
    if (done) done = prepare_missing();
    if (done) {
        auto media = find();
        if (media) return play_media(std::move(*media));
        done = media.error();
    }
    if (done.error().kind == ErrorKind::interrupted) return interrupted_before_play();
    return report_error(context_, done.error());
}

int MediaCommand::interrupted_before_play() {
    context_.log.warn("interrupted before anything was played");
    const int code = write_results(Session::not_played(options_.play, context_.program));
    if (left_behind_) leave(code);
    return code;
}

Result<FoundMedia> MediaCommand::find() {
    return index_with_bar<FoundMedia>(control_, options_.quiet, left_behind_, [this](IndexProgress& progress) {
        return find_media(store_.get(), options_.play, &progress);
    });
}

int MediaCommand::play_media(FoundMedia media) {
    const bool live = !options_.quiet && LiveView::possible(STDERR_FILENO);
    LiveView view(STDERR_FILENO, live && LiveView::colours_wanted(STDERR_FILENO));
    for (const auto& list : media.clips) {
        for (const Clip& clip : list) {
            context_.log.debug("clip {}: {}, {} frames", clip.name, clip.format, clip.index->count());
        }
    }
    Session session(options_.play, std::move(media), context_.program, [this](const std::string& notice) {
        if (!options_.quiet) context_.log.warn("{}", notice);
    });
    std::optional<Result<RunResult>> result;
    Control::Work work;
    work.run = [&] { result.emplace(session.execute()); };
    work.on_interrupt = [&] { session.interrupt(); };
    if (live) work.on_tick = [&] { draw(view, session.watch()); };
    const bool ended = control_.run(std::move(work));
    view.erase();
    if (!ended) {
        context_.log.warn("left without waiting for the storage: what was played is not known");
        leave(write_results(Session::not_played(options_.play, context_.program)));
    }
    const int code = *result ? write_results(**result) : report_error(context_, result->error());
    if (session.stuck()) {
        context_.log.warn("the storage has not given back everything that was asked of it");
        leave(code);
    }
    return code;
}

/// Ends the process while something of it is still in a call that does not return.
void MediaCommand::leave(int code) {
    std::fflush(nullptr);
    _exit(code);
}

void MediaCommand::draw(LiveView& view, const Session::Watch& watch) {
    if (watch.streams == nullptr) return;
    ViewState state;
    state.title = fmt::format("{} streams from {}", watch.streams->size(), options_.play.target.url);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < watch.streams->size(); ++i) {
        const StreamPlan& plan = (*watch.streams)[i];
        StreamView stream;
        stream.label = options_.play.seats > 1
                           ? fmt::format("seat {}, {} {}", plan.options.seat, plan.options.stream, plan.format)
                           : fmt::format("{} {}", plan.options.stream, plan.format);
        stream.readahead = plan.options.readahead;
        if (plan.options.paced) {
            stream.frames_total = plan.options.slots;
            stream.period_ns = plan.rate().period().ns;
            state.total_ns = std::max(state.total_ns, plan.rate().due(plan.options.slots).ns);
            state.required_bytes_per_s += plan.required_bytes_per_s();
        }
        stream.read((*watch.progress)[i]);
        bytes += stream.bytes;
        state.streams.push_back(std::move(stream));
    }
    const std::int64_t now_ns = control_.now_ns();
    if (watch.started_ns > 0) state.elapsed_ns = now_ns - watch.started_ns;
    if (last_draw_ns_ > 0) {
        state.bytes_per_s =
            static_cast<double>(bytes - last_bytes_) * 1e9 / static_cast<double>(now_ns - last_draw_ns_);
    }
    last_bytes_ = bytes;
    last_draw_ns_ = now_ns;
    view.draw(state);
}

int MediaCommand::write_results(const RunResult& result) {
    Result<void> written;
    const bool stdout_taken = json_.standard_output() || csv_.standard_output();
    if (!options_.quiet) {
        const int fd = stdout_taken ? STDERR_FILENO : STDOUT_FILENO;
        const std::string text = text_report(result, LiveView::colours_wanted(fd));
        std::FILE* out = stdout_taken ? stderr : stdout;
        std::fwrite(text.data(), 1, text.size(), out);
        std::fflush(out);
    }
    if (json_.wanted()) {
        json_.write(json_report(result));
        if (auto done = json_.finish(); !done) written = done;
    }
    if (csv_.wanted()) {
        csv_report(result, [this](std::string_view piece) { csv_.write(piece); });
        if (auto done = csv_.finish(); !done) written = done;
    }
    if (!written) return report_error(context_, written.error());
    if (result.interrupted) return kExitInterrupted;
    return result.verdict.pass ? kExitPass : kExitMissed;
}

}  // namespace

int play_command(CliContext& context, Control& control, CliOptions& options) {
    return MediaCommand(context, control, options).play();
}

int prepare_command(CliContext& context, Control& control, CliOptions& options) {
    return MediaCommand(context, control, options).prepare_only();
}

}  // namespace streamsim
