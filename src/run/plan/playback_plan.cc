#include "run/plan/playback_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "host/mount.h"
#include "load/meter.h"
#include "run/plan/media_plan.h"
#include "run/plan/meters.h"
#include "run/plan/needs.h"
#include "run/plan/scenario_faults.h"
#include "storage/local/local_options.h"
#include "storage/remote/remote_names.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

std::vector<const Clip*> clips_of(const PlayPart& part) {
    std::vector<const Clip*> all;
    for (const auto* lists : {&part.media.clips, &part.media.spare}) {
        for (const auto& list : *lists) {
            for (const Clip& clip : list) all.push_back(&clip);
        }
    }
    if (!part.media.cuts) return all;
    for (const Clip& clip : part.media.cuts->clips) all.push_back(&clip);
    return all;
}

/// The folders of the clips are set to the pattern that was asked for.
AccessStrategy strategy_of(const std::optional<play::AccessPattern>& pattern) {
    if (!pattern) return AccessStrategy::as_media;
    switch (*pattern) {
        case play::AccessPattern::streaming: return AccessStrategy::streaming;
        case play::AccessPattern::filename_prefetch: return AccessStrategy::filename_prefetch;
        case play::AccessPattern::on_demand: break;
    }
    return AccessStrategy::concurrency;
}

}  // namespace

void set_parallel_operations(StorageSpec& storage, std::uint64_t reads, std::uint64_t opens) {
    storage.local.parallel_reads = static_cast<std::uint32_t>(std::min(reads, kParallelReadsMax));
    storage.local.parallel_opens = static_cast<std::uint32_t>(std::min(opens, kParallelReadsMax));
    storage.remote.parallel_reads = storage.local.parallel_reads;
    storage.remote.parallel_opens = storage.local.parallel_opens;
}

Result<void> RunMemory::reserve_pages(std::uint64_t bytes) {
    auto arena = storage::BufferArena::begin(bytes);
    if (!arena) return arena.error();
    arena_.emplace(std::move(*arena));
    all_ = arena_->memory();
    return {};
}

void RunMemory::finish(const NoticeSink& notice) {
    if (arena_) arena_->finish(notice);
}

void RunMemory::reserve_addresses(std::uint64_t bytes) {
    addresses_ = {map_addresses(bytes), Unmap{bytes}};
    if (addresses_ == nullptr) throw std::bad_alloc();
    all_ = {static_cast<std::byte*>(addresses_.get()), bytes};
}

Result<std::span<std::byte>> RunMemory::add(std::uint64_t bytes, const NoticeSink& notice) {
    if (is_shared()) {
        STREAMSIM_CHECK(bytes <= all_.size(), "an added stream needs no more memory than a planned one");
        return all_.first(bytes);
    }
    auto arena = storage::BufferArena::make(bytes, notice);
    if (!arena) return arena.error();
    const MutexLock lock(mutex_);
    added_.push_back(std::move(*arena));
    return added_.back().memory();
}

std::uint64_t RunMemory::page_bytes() const {
    std::uint64_t bytes = arena_ ? all_.size() : 0;
    const MutexLock lock(mutex_);
    for (const storage::BufferArena& arena : added_) bytes += arena.memory().size();
    return bytes;
}

PlaybackPlan::PlaybackPlan(PlayRequest request,
                           std::vector<PlayPart> parts,
                           std::vector<ScenarioFault> faults,
                           NoticeLog& log)
    : request_(std::move(request)), parts_(std::move(parts)), faults_(std::move(faults)), log_(log) {
    for (PlayPart& part : parts_) {
        part.request.first_seat = request_.first_seat;
        part.request.seat_step = request_.seat_step;
        part.request.own_seats = request_.own_seats;
    }
    if (!request_.only_leads) return;
    request_.target.kind = target::Target::Kind::null;
    request_.target.remote.reset();
}

Result<void> PlaybackPlan::make() {
    if (auto& server = request_.target.remote) {  // once, so that all loops have its nodes in one order
        if (auto known = storage::resolve(*server); !known) return known.error();
    }
    describe_storage();
    for (const std::string& remark : request_.remarks) log_.add(remark);
    if (auto checked = check_meters(request_); !checked) return checked;
    meters_ = meter_plans(request_);
    std::uint32_t alignment = alignment_of_files();
    if (auto made = make_recordings(alignment); !made) return made;
    storage_.local.alignment = alignment;
    for (const std::string& text : fit_to_alignment(meters_, alignment)) log_.add(text);
    if (request_.target.kind == target::Target::Kind::model) describe_model();
    auto planned = plan_parts(parts_, alignment, &play_time_of_all_);
    if (!planned) return planned.error();
    if (request_.keep_frames) {
        if (auto fit = check_rows(*planned); !fit) return fit;
    }
    add_faults(faults_, *planned, storage_.faults);
    for (StreamPlan& plan : *planned) {
        add_stream(std::move(plan));
        warn_about_pattern(streams_.back());
    }
    if (request_.target.kind == target::Target::Kind::local &&
        (request_.cold || request_.evict || direct_uses_page_cache_)) {
        const std::string left = evict_clips();
        if (request_.cold && !left.empty()) log_.add("--cold: " + left);
    }
    if (!is_empty()) {
        if (auto had = reserve_memory(); !had) return had;
    }
    if (recordings_) {
        if (auto recorded = recordings_->record(streams_); !recorded) return recorded;
        add_mount_of_recordings();
    }
    is_made_.store(true, std::memory_order_release);
    return {};
}

void PlaybackPlan::describe_storage() {
    static_cast<StorageRequest&>(storage_) = static_cast<const StorageRequest&>(request_);
    storage_.remote.credentials = request_.credentials;
    storage_.local.direct = request_.direct;
    storage_.local.notice = log_.sink();
    storage_.remote.first_seat = request_.first_seat;
    storage_.remote.seat_step = request_.seat_step;
    storage_.remote.seats = request_.own_seats.value_or(request_.seats);
    storage_.remote.notice = log_.sink();
}

Result<void> PlaybackPlan::make_recordings(std::uint32_t& alignment) {
    const auto records = [](const PlayPart& part) { return part.request.record.streams > 0; };
    if (!request_.target.has_files() || std::none_of(parts_.begin(), parts_.end(), records)) return {};
    const bool keep = std::any_of(parts_.begin(), parts_.end(),
                                  [](const PlayPart& part) { return part.request.record.keep; });
    auto made = Recordings::make(request_.target, request_.credentials, keep, log_.sink());
    if (!made) return made.error();
    recordings_ = std::move(*made);
    for (PlayPart& part : parts_) part.request.record.directory = recordings_->directory();
    if (request_.target.kind == target::Target::Kind::local && request_.direct)
        alignment = std::max(alignment, recordings_->alignment());
    return {};
}

/// The directory of a sequence that is recorded is made during play: it is on the mount of them all.
void PlaybackPlan::add_mount_of_recordings() {
    if (request_.target.kind != target::Target::Kind::local) return;
    const auto mount = host::mount_of(recordings_->directory());
    if (!mount) return;
    for (const StreamPlan& plan : streams_) {
        if (plan.record != nullptr) mounts_.emplace(target::directory_of(plan.clips.front()), *mount);
    }
}

/// Finds out what the clips are on. The alignment of reads past the page cache, from the first file of each
/// clip and meter.
std::uint32_t PlaybackPlan::alignment_of_files() {
    std::uint32_t alignment = 1;
    if (request_.target.kind != target::Target::Kind::local) return alignment;
    storage::raise_open_file_limit();
    const std::vector<const Clip*> all = clips();
    mounts_ = target::mounts_of(all);
    if (!request_.direct) return alignment;
    const auto by_page_cache = [](const auto& each) {
        return storage::direct_reads_use_cached_pages(each.second.type);
    };
    direct_uses_page_cache_ = std::ranges::any_of(mounts_, by_page_cache);
    if (!all.empty() && !direct_uses_page_cache_) {  // the file may be a link
        const auto mount = host::mount_of(all.front()->index->path_of(0));
        direct_uses_page_cache_ = mount && storage::direct_reads_use_cached_pages(mount->type);
    }
    for (const Clip* clip : all)
        alignment = std::max(alignment, storage::direct_alignment(clip->index->path_of(0)));
    for (const load::MeterPlan& plan : meters_) {
        if (!plan.names.files.empty())
            alignment = std::max(alignment, storage::direct_alignment(plan.names.files.front()));
    }
    return alignment;
}

void PlaybackPlan::describe_model() {
    std::set<const FrameIndex*> seen;  // parts may share clips
    for (const PlayPart& part : parts_) {
        for (const Clip* clip : clips_of(part)) {
            if (seen.insert(clip->index.get()).second)
                storage_.media.emplace_back(clip->index, strategy_of(part.request.pattern));
        }
    }
    const ClusterModel& model = *request_.target.model;
    for (const PlayPart& part : parts_) {
        for (const MediaFormat& format : part.request.formats) {
            if (decode_cost(model, format) > Duration{}) continue;
            log_.add(
                fmt::format("the model {} does not know what decoding {} costs: its frames are delivered only",
                            model.name, format.name));
        }
    }
}

void PlaybackPlan::warn_about_pattern(const StreamPlan& plan) {
    const PlayRequest& request = *plan.request;
    if (plan.record != nullptr || !request.pattern || plan.options.pattern == *request.pattern) return;
    log_.add(fmt::format("{}: this --pattern is not for {}: played on demand", plan.format,
                         request.order.kind != play::PlayOrder::Kind::forward ? "this --order"
                         : plan.path->sources().front()->file_per_frame()     ? "image sequences"
                                                                              : "containers"));
}

Result<void> PlaybackPlan::reserve_memory() {
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    const auto count = [&](std::uint64_t bytes) {
        sum += bytes;
        largest = std::max(largest, bytes);
    };
    for (const StreamPlan& plan : streams_) count(plan.memory_bytes());
    for (const load::MeterPlan& plan : meters_) count(load::Meter::memory_bytes(plan));
    if (request_.target.has_files()) return memory_.reserve_pages(sum);
    if (largest > 0) memory_.reserve_addresses(largest);  // meters that move no bytes need none
    return {};
}

Duration PlaybackPlan::play_time() const {
    Duration longest = play_time_of_all_;
    for (const StreamPlan& plan : streams_) {
        if (plan.options.paced) longest = std::max(longest, plan.play_time());
    }
    if (is_in_phases() && request_.duration) longest = std::max(longest, *request_.duration);
    return longest > Duration{} ? longest : request_.duration.value_or(kDefaultDuration);
}

std::vector<const Clip*> PlaybackPlan::clips() const {
    std::vector<const Clip*> all;
    for (const PlayPart& part : parts_) {
        for (const Clip* clip : clips_of(part)) all.push_back(clip);
    }
    return all;
}

const CutList* PlaybackPlan::cuts() const {
    const CutList* cuts = nullptr;
    for (const PlayPart& part : parts_) {
        if (part.media.cuts) cuts = &*part.media.cuts;
    }
    return cuts;
}

std::string PlaybackPlan::first_file() const {
    for (const StreamPlan& plan : streams_) {
        if (plan.record == nullptr) return plan.clips.front().index->path_of(0);
    }
    if (recordings_ != nullptr) return recordings_->directory();
    const std::vector<std::string>& files = meters_.front().names.files;
    return files.empty() ? request_.target.name() : files.front();
}

/// Those of all clips where the user asks for that; else those that streams play, and of clips that may be
/// added.
std::set<std::pair<const FrameIndex*, std::uint64_t>> PlaybackPlan::files_to_evict() const {
    std::set<std::pair<const FrameIndex*, std::uint64_t>> files;
    const auto add_all = [&files](const FrameIndex& index) {
        const std::uint64_t count = index.file_per_frame() ? index.count() : 1;
        for (std::uint64_t i = 0; i < count; ++i) files.emplace(&index, i);
    };
    if (request_.cold) {
        for (const Clip* clip : clips()) add_all(*clip->index);
        return files;
    }
    for (const PlayPart& part : parts_) {
        for (const auto& list : part.media.spare) {
            for (const Clip& clip : list) add_all(*clip.index);
        }
    }
    std::vector<play::ShownFrame> shown;
    for (const StreamPlan& plan : streams_) {
        if (plan.record != nullptr) continue;
        const auto& sources = plan.path->sources();
        std::uint64_t frames = 0;  // that have a file each
        for (const auto& source : sources) frames += source->file_per_frame() ? source->count() : 0;
        const std::uint64_t slots = plan.options.slots;
        const bool some = slots < frames && slots <= plan.path->pass_slots();  // later passes may show others
        for (const auto& source : sources) {
            if (!some || !source->file_per_frame()) add_all(*source);
        }
        for (std::uint64_t slot = 0; some && slot < slots; ++slot) {
            plan.path->shown(slot, shown);
            for (const play::ShownFrame& each : shown) {
                const FrameIndex& source = *sources[each.source];
                if (source.file_per_frame()) files.emplace(&source, each.frame);
            }
        }
    }
    return files;
}

std::string PlaybackPlan::evict_clips() const {
    const auto store = make_byte_store(request_.target, request_.credentials);
    std::uint64_t files = 0, left = 0;
    std::string first;
    for (const auto& [index, file] : files_to_evict()) {
        ++files;
        const auto evicted = store->evict(index->path_of(file));
        // A frame that is missing, or may not be read, fails at its slot.
        if (evicted || evicted.error().inaccessible) continue;
        if (++left == 1) first = evicted.error().problems.front();
    }
    if (left == 0) return "";
    return fmt::format("{} of {} could not be evicted: {}", show_count(left), counted(files, "file"), first);
}

LoopStream PlaybackPlan::add_stream(StreamPlan plan) {
    StreamProgress& progress = progress_.emplace_back();
    return {&streams_.emplace_back(std::move(plan)), &progress};
}

std::vector<std::string> PlaybackPlan::close_recordings(bool storage_answers,
                                                        const std::function<bool()>& stopped) {
    std::vector<std::string> vanished;
    if (recordings_ == nullptr) return vanished;
    if (storage_answers) {
        vanished = recordings_->vanished(streams_);
        recordings_->remove(stopped);
    } else {
        recordings_->leave();
    }
    recordings_.reset();
    return vanished;
}

}  // namespace streamsim::run
