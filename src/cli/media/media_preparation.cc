#include "cli/media/media_preparation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/options/documents.h"
#include "cli/options/options.h"
#include "cli/process/question.h"
#include "media/catalogue/catalogue.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_index.h"
#include "run/plan/meters.h"
#include "seats/ranks.h"
#include "view/live_view.h"
#include "view/progress_bar.h"

namespace streamsim::cli {
namespace {

/// The media set that holds the target: its path up to the last component of that name. Empty: none does.
std::string set_around(const target::Target& target) {
    std::string path = target.name();
    if (target.kind == target::Target::Kind::local) path = canonical_text(path);
    const std::string name = std::string("/") + media::kMediaDirectory;
    for (std::size_t at = path.rfind(name); at != std::string::npos && at > 0; at = path.rfind(name, at - 1)) {
        const std::size_t end = at + name.size();
        if (end == path.size() || path[end] == '/') return path.substr(0, end);
    }
    return {};
}

/// The media sets that may hold clips of a request; the clips of a cut list are looked for in the target's,
/// too.
std::vector<std::string> sets_of(const run::PlayRequest& request) {
    const std::string own = media::media_root(request.target.name());
    if (!request.formats.empty()) return {own};
    std::vector<std::string> sets;
    if (std::string around = set_around(request.target); !around.empty()) sets.push_back(std::move(around));
    if (request.cuts) sets.push_back(own);
    return sets;
}

/// The text that --format takes for prepared media: a name of the catalogue, or a file that only its user
/// knows.
std::string format_to_give(const media::Catalogue& catalogue, const MediaFormat& format) {
    const MediaFormat* const known = catalogue.find(format.name);
    const bool same = known != nullptr && media::format_identity(*known) == media::format_identity(format);
    return same ? format.name : fmt::format("FILE, your file of {}", format.name);
}

/// Errors: bad input where the media set of a TARGET has media of other formats alone, which a person who names
/// none may mean.
Result<void> check_prepared(ByteStore& store, const CliOptions& options) {
    const std::string& target = options.play.target.name();
    const auto prepared = media::formats_in_set(store, target);
    if (!prepared) return prepared.error();
    const MediaFormat& standard = options.default_format;
    const auto is_standard = [id = media::format_identity(standard)](const MediaFormat& format) {
        return media::format_identity(format) == id;
    };
    if (prepared->empty() || std::any_of(prepared->begin(), prepared->end(), is_standard)) return {};
    const auto directory = formats_directory();
    if (!directory) return directory.error();
    const auto catalogue = media::Catalogue::load(*directory + "/media");
    if (!catalogue) return catalogue.error();
    std::vector<std::string> names, given;
    for (const MediaFormat& format : *prepared) {
        names.push_back(format.name);
        given.push_back(format_to_give(*catalogue, format));
    }
    return bad_input(
        fmt::format("{}: has prepared media of {}: give --format {} (or --format {} to have others made)",
                    target, fmt::join(names, ", "), fmt::join(given, " or --format "), standard.name));
}

/// True: media of the default format are made in TARGET, which is a path. Errors: bad input where prepare would
/// make media that play does not use; as check_prepared.
Result<bool> gets_default_format(ByteStore& store, const CliOptions& options) {
    const std::string& target = options.play.target.name();
    const bool prepares = options.command == Command::prepare;
    auto empty = run::is_empty_directory(store, target);
    if (!empty) return empty;
    if (run::streams_of_format(options.play) == 0) return *empty || prepares;  // recorders alone
    if (*empty) {
        if (auto checked = check_prepared(store, options); !checked) return checked.error();
        return true;
    }
    if (!prepares) return false;
    const auto info = store.stat(target);
    if (!info) return info.error();
    if (!*info || !(**info).directory) return true;  // its plan says what is wrong
    if (!options.play.meters.empty()) return false;  // their files are made
    if (auto checked = check_prepared(store, options); !checked) return checked.error();
    return bad_input(
        fmt::format("{}: holds files of its own, which play without a format looks through for clips: give a "
                    "format such as --dpx12 to have media made",
                    target));
}

}  // namespace

Result<void> MediaPreparation::choose_formats() {
    if (!context_.options.play.formats.empty() || context_.options.play.cuts) return {};
    Result<bool> wanted(true);
    if (store_ != nullptr)
        wanted = work_.run([this] { return gets_default_format(*store_, context_.options); });
    if (!wanted) return wanted.error();
    if (*wanted) context_.options.play.formats.push_back(context_.options.default_format);
    return {};
}

Result<void> MediaPreparation::consent(const run::SpaceNeed& need) {
    run::SpaceNeed more = need;
    if (need.record_bytes <= allowed_record_bytes_) more.record_bytes = 0;
    if (!more.needs_consent()) return {};
    if (auto allowed = ask_for(need); !allowed) return allowed;
    if (!context_.options.play.record.keep)
        allowed_record_bytes_ = std::max(allowed_record_bytes_, need.record_bytes);
    return {};
}

Result<void> MediaPreparation::ask_for(const run::SpaceNeed& need) {
    const std::string what = need.sentence();
    if (context_.options.yes) {
        if (!context_.options.quiet) context_.log.info(what + " (--yes)");
        return {};
    }
    if (context_.ranks != nullptr || !can_ask())
        return environment_error(what + ": nothing was written; --yes allows it");
    work_.suppress_messages();
    const auto answer =
        work_.run([what]() -> Result<bool> { return ask("streamsim: " + what + ". Write it?"); });
    if (!answer) return answer.error();
    if (!*answer) return environment_error("nothing was written: the answer was not yes");
    return {};
}

Result<void> MediaPreparation::hold(const run::PlayRequest& request, bool writes) {
    if (store_ == nullptr || request.only_leads) return {};
    for (const std::string& root : sets_of(request)) {
        if (locks_.set_is_held(root)) continue;
        const auto there = work_.run([this, root] { return media::media_set_is_there(*store_, root); });
        if (!there && there.error().kind == ErrorKind::interrupted) return there.error();
        // The search for clips reports what is wrong with a set; nothing is put into it here.
        if (!there || !*there) continue;
        if (auto held = locks_.hold_set(store_, root, LockMode::shared); !held) return held;
    }
    if (!writes) return {};
    return locks_.hold_set(store_, media::media_root(request.target.name()), LockMode::shared);
}

Result<MediaPreparation::Missing> MediaPreparation::find_missing(const run::PlayRequest& request,
                                                                 const PlanMedia& media,
                                                                 std::uint64_t record_bytes) {
    return work_.run([this, request, media, record_bytes]() -> Result<Missing> {
        auto load = run::missing_load_set(*store_, request);
        if (!load) return load.error();
        auto plans = media();
        if (!plans) return plans.error();
        auto need = run::need_of_play(*store_, request.target.name(), *load, *plans, record_bytes);
        if (!need) return need.error();
        return Missing{std::move(*plans), std::move(*need)};
    });
}

void MediaPreparation::say_plan(const media::PreparePlan& plan) {
    for (const std::string& note : plan.notes) context_.log.warn(note);
    if (context_.options.quiet || plan.nothing_to_do()) return;
    const std::size_t clips = plan.missing.size();
    const std::string there = show_bytes(plan.bytes_to_check);
    std::string what = fmt::format("writing {} of media", show_bytes(plan.bytes_to_write));
    if (plan.bytes_to_write == 0)
        what = fmt::format("checking {} of media and writing what is wrong", there);
    else if (plan.bytes_to_check > 0)
        what += fmt::format(", and what is wrong of {} that are there", there);
    context_.log.info(fmt::format("{}: {} clip{} of {}, {} frames each, to {} ({} free)", what, clips,
                                  clips == 1 ? "" : "s", plan.request.format.name, show_count(plan.frames),
                                  plan.directory, show_bytes(plan.bytes_free)));
}

Result<void> MediaPreparation::write_with_bar(const char* what,
                                              std::uint64_t bytes,
                                              std::function<Result<void>(media::PrepareProgress&)> write) {
    struct Shared {  // lives as long as the thread that writes
        std::function<Result<void>(media::PrepareProgress&)> write;
        media::PrepareProgress progress;
        std::optional<Result<void>> result;
    };
    const auto shared = std::make_shared<Shared>();
    shared->write = std::move(write);
    view::ProgressBar bar(STDERR_FILENO, view::LiveView::possible(STDERR_FILENO), what, bytes);
    const std::int64_t begin_ns = context_.control.now_ns();
    run::Control::Work work;
    work.run = [shared] { shared->result.emplace(shared->write(shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    work.on_tick = [&] {
        if (!context_.options.quiet)
            bar.update(shared->progress.bytes_done, context_.control.now_ns() - begin_ns);
        const bool stopped = context_.ranks != nullptr && context_.ranks->stopped();
        if (stopped || locks_.lost()) shared->progress.cancel = true;
    };
    if (!context_.control.run(std::move(work))) {
        work_.leave_behind();
        return interrupted_error();
    }
    if (locks_.lost()) return MediaLocks::lost_error("written");
    if (*shared->result && !context_.options.quiet)
        bar.finish(shared->progress.bytes_done, context_.control.now_ns() - begin_ns);
    return *shared->result;
}

Result<void> MediaPreparation::write_media(const std::vector<media::PreparePlan>& plans) {
    for (const media::PreparePlan& plan : plans) say_plan(plan);
    for (const media::PreparePlan& plan : plans) {
        if (plan.nothing_to_do()) continue;
        auto written = write_with_bar(
            "writing media", plan.bytes_to_write,
            [this, plan](media::PrepareProgress& progress) { return media::prepare(*store_, plan, progress); });
        if (!written) return written;
    }
    return {};
}

void MediaPreparation::say_load(const media::LoadSetPlan& plan) {
    if (context_.options.quiet || plan.bytes_to_write == 0) return;
    context_.log.info(fmt::format("writing {} for meters: {} files, to {} ({} free)",
                                  show_bytes(plan.bytes_to_write), show_count(plan.missing.files.size()),
                                  media::load_root(plan.missing.target), show_bytes(plan.bytes_free)));
}

Result<void> MediaPreparation::write_load(const media::LoadSetPlan& plan) {
    if (plan.nothing_to_do()) return {};
    if (!plan.recorded) say_load(plan);
    const std::uint64_t seed = context_.options.play.seed;
    return write_with_bar("writing files", plan.bytes_to_write,
                          [this, plan, seed](media::PrepareProgress& progress) {
                              return media::write_load_set(*store_, plan, seed, progress);
                          });
}

Result<void> MediaPreparation::write_missing(const run::PlayRequest& request,
                                             const PlanMedia& media,
                                             std::uint64_t record_bytes) {
    if (auto held = hold(request, false); !held) return held;
    auto missing = find_missing(request, media, record_bytes);
    if (!missing) return missing.error();
    if (auto allowed = consent(missing->need); !allowed) return allowed;
    // A plan may hold nothing but notes.
    const bool writes = std::any_of(missing->media.begin(), missing->media.end(),
                                    [](const media::PreparePlan& plan) { return !plan.nothing_to_do(); });
    if (writes) {
        const std::uint64_t allowed_bytes = missing->need.bytes();
        const std::string root = media::media_root(request.target.name());
        if (auto held = locks_.hold_set(store_, root, LockMode::exclusive); !held) return held;
        missing = find_missing(request, media,
                               record_bytes);  // others may have made or removed media in the meantime
        if (!missing) return missing.error();
        if (missing->need.bytes() > allowed_bytes && missing->need.needs_consent()) {
            if (auto allowed = ask_for(missing->need); !allowed) return allowed;
        }
    }
    if (auto written = write_media(missing->media); !written) return written;
    if (writes) {
        if (auto shared = locks_.share_set(media::media_root(request.target.name())); !shared) return shared;
    }
    return request.meters.empty() ? Result<void>() : write_load_sets(request);
}

/// Plans the missing files of the sets of all seats, with locks that allow to write them.
Result<media::LoadSetPlan> MediaPreparation::lock_load_sets(const run::PlayRequest& request) {
    if (auto held = hold(request, true); !held) return held.error();
    const std::string root = media::media_root(request.target.name());
    const auto names = run::working_sets_of(request);
    if (auto held = locks_.hold_load(root, names.read, LockMode::shared); !held) return held.error();
    if (auto held = locks_.hold_load(root, names.written, LockMode::exclusive); !held) return held.error();
    const bool alone = names.read.empty();
    const auto find = [this, request](bool only_we_use_them) -> Result<media::LoadSetPlan> {
        if (auto removed = run::remove_created_files(*store_, request); !removed) return removed.error();
        if (only_we_use_them) {
            if (auto removed = run::remove_unfinished_files(*store_, request); !removed) return removed.error();
        }
        return run::missing_load_set(*store_, request);
    };
    auto plan = work_.run([find, alone] { return find(alone); });
    if (!plan || plan->nothing_to_do() || alone) return plan;
    if (auto held = locks_.hold_load(root, names.read, LockMode::exclusive); !held) return held.error();
    return work_.run([find] { return find(true); });  // others may have made it in the meantime
}

Result<void> MediaPreparation::write_load_sets(const run::PlayRequest& request) {
    const auto plan = lock_load_sets(request);
    if (!plan) return plan.error();
    if (auto written = write_load(*plan); !written) return written;
    share_load_sets(request);
    return {};
}

Result<void> MediaPreparation::record_load_sets(const run::PlayRequest& request) {
    auto plan = lock_load_sets(request);
    if (!plan) return plan.error();
    if (plan->nothing_to_do()) return {};
    say_load(*plan);
    return work_.run([this, plan = std::move(*plan)] { return media::record_load_set(*store_, plan); });
}

Result<void> MediaPreparation::write_own_load_sets(const run::PlayRequest& request) {
    if (request.only_leads) return {};
    const bool leads = context_.ranks == nullptr || context_.ranks->makes_media();
    if (auto held = hold(request, true); !held) return held;
    auto plan =
        work_.run([this, request, leads] { return run::own_missing_load_set(*store_, request, leads); });
    if (!plan) return plan.error();
    plan->recorded = true;
    return write_load(*plan);
}

void MediaPreparation::share_load_sets(const run::PlayRequest& request) {
    locks_.share_load(media::media_root(request.target.name()), run::working_sets_of(request).read);
}

void MediaPreparation::remove_created(const run::PlayRequest& request) {
    if (store_ == nullptr || work_.left_behind() || locks_.left_behind() || request.meters.empty()) return;
    // Also after an interruption, which has been heard; storage that does not answer is left behind then.
    const auto removed = std::make_shared<std::optional<Result<void>>>();
    run::Control::Work work;
    work.run = [store = store_.get(), removed, request] {
        removed->emplace(run::remove_created_files(*store, request));
    };
    work.on_interrupt = [] {};
    if (!context_.control.run(std::move(work))) return work_.leave_behind();
    if (!**removed && !context_.options.quiet) context_.log.warn((**removed).error().problems.front());
}

}  // namespace streamsim::cli
