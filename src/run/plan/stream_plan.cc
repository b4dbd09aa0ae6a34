#include "run/plan/stream_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "base/units.h"
#include "media/clips/recording_index.h"
#include "media/own_files/own_names.h"
#include "media/write/recording.h"
#include "play/slot_reads.h"

namespace streamsim::run {
namespace {

/// Frames of one stream at most: more than a year. The ledger keeps a bit for each.
constexpr std::uint64_t kSlotsMax = 1'000'000'000;
/// 146 years: sums with what comes later still fit.
constexpr Duration kLastDue{INT64_MAX / 2};
/// Staggered streams begin within this time.
constexpr Duration kStartMax = seconds(std::int64_t{10} * 365 * 86'400);
/// Slots at most for the mean bytes of one.
constexpr std::uint64_t kAveragedSlots = 1 << 20;

double mean_slot_bytes(const play::PlayPath& path) {
    const std::uint64_t slots = std::clamp<std::uint64_t>(path.pass_slots(), 1, kAveragedSlots);
    double bytes = 0;
    if (path.front_to_back() && play::slot_needs(path).extents == 1) {
        const FrameIndex& index = *path.sources().front();
        for (std::uint64_t frame = 0; frame < slots; ++frame)
            bytes += static_cast<double>(index.extent(frame).bytes);
        return bytes / static_cast<double>(slots);
    }
    play::SlotReads reads(path);
    std::vector<play::SlotExtent> extents;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        reads.plan(slot, extents);
        for (const play::SlotExtent& each : extents) bytes += static_cast<double>(each.extent.bytes);
    }
    return bytes / static_cast<double>(slots);
}

/// `usual`: the length of play where the request states none.
play::PlayerOptions player_options(const PlayRequest& request,
                                   const play::PlayPath& path,
                                   Duration usual,
                                   std::uint32_t alignment) {
    play::PlayerOptions options{static_cast<const play::ReadSettings&>(request)};
    options.alignment = alignment;
    const bool files = path.sources().front()->file_per_frame();
    const play::AccessPattern own =
        files ? play::AccessPattern::filename_prefetch : play::AccessPattern::streaming;
    // Filename prefetch has no meaning for one file. Streaming has none for many files, for whole frames, and
    // for orders that do not go from front to back.
    options.pattern = request.pattern.value_or(own) == own ? own : play::AccessPattern::on_demand;
    const bool streams = request.io_size > 0 && path.front_to_back();
    if (own == play::AccessPattern::streaming && !streams) options.pattern = play::AccessPattern::on_demand;
    if (!request.paced) {
        options.slots = request.frames.value_or(UINT64_MAX);
        return options;
    }
    const std::uint64_t asked = request.frames.value_or(UINT64_MAX);
    options.slots = asked;
    if (request.duration) {
        options.slots = std::min(asked, path.slots_in(*request.duration));
    } else if (!request.frames) {
        options.slots = path.slots_in(usual);
    }
    return options;
}

/// How long a stream without deadlines reads; nullopt: it has deadlines, or reads a number of frames.
std::optional<Duration> reading_time(const PlayRequest& request) {
    if (request.paced || (request.frames && !request.duration)) return std::nullopt;
    return request.duration.value_or(kDefaultDuration);
}

/// "dpx12"; "3 formats".
std::string formats_of(const std::vector<Clip>& clips) {
    std::vector<std::string> formats;
    for (const Clip& clip : clips) {
        if (std::find(formats.begin(), formats.end(), clip.format) == formats.end())
            formats.push_back(clip.format);
    }
    return formats.size() == 1 ? formats.front() : fmt::format("{} formats", formats.size());
}

/// Assigns streams to seats.
class StreamPlanner {
public:
    StreamPlanner(const PlayPart& part, std::uint32_t alignment)
        : request_(part.request),
          schedule_(part.schedule),
          order_seed_(part.order_seed.value_or(part.request.seed)),
          usual_(usual_length(part.request, part.media)),
          alignment_(alignment),
          seats_(part.request.seats) {}

    void assign(const std::vector<Clip>& clips) {
        std::vector<std::vector<Clip>> angles(request_.seats);
        for (std::uint32_t i = 0; i < streams_of_format(request_); ++i) {
            std::vector<Clip> layers;
            for (std::uint32_t k = 0; k < request_.layers; ++k) {
                layers.push_back(clips[request_.same_media ? 0 : i * request_.layers + k]);
            }
            if (request_.multicam == MultiCam::active) {
                angles[seat_of(i)].push_back(std::move(layers.front()));
            } else {
                seats_[seat_of(i)].push_back(
                    planned(seat_of(i), next_of(seat_of(i)), std::move(layers), "layers"));
            }
        }
        for (std::uint32_t seat = 0; seat < request_.seats; ++seat) {
            if (!angles[seat].empty())
                seats_[seat].push_back(planned(seat, next_of(seat), std::move(angles[seat]), "angles"));
        }
    }

    void assign(const CutList& list) {
        for (std::uint32_t i = 0; i < streams_of_format(request_); ++i) {
            StreamPlan plan;
            plan.clips = list.clips;
            plan.name = fmt::format("{}: {} events, {} clips", list.name, list.events, list.clips.size());
            plan.format = formats_of(list.clips);
            plan.path = play::make_cut_path(list, request_.rate);
            finish(seat_of(i), next_of(seat_of(i)), plan);
            seats_[seat_of(i)].push_back(std::move(plan));
        }
    }

    /// Adds the recorders, on each seat after the players.
    void plan_recorders() {
        for (const MediaFormat& format : request_.record.formats) {
            for (std::uint32_t seat = 0; seat < request_.seats; ++seat) {
                for (std::uint32_t i = 0; i < request_.record.streams; ++i)
                    seats_[seat].push_back(recorder(seat, next_of(seat), format));
            }
        }
    }

    Result<std::vector<StreamPlan>> take() {
        std::vector<StreamPlan> all;
        std::size_t streams = 0;
        for (const auto& seat : seats_) streams += seat.size();
        if (streams > 0 && request_.stagger.ns > kStartMax.ns / static_cast<std::int64_t>(streams))
            return bad_input(fmt::format(
                "--stagger: the last of {} would begin after more than ten years: give a shorter time",
                counted(streams, "stream")));
        for (auto& seat : seats_) {
            for (StreamPlan& plan : seat) {
                if (auto checked = check(plan, seat.front()); !checked) return checked.error();
            }
            for (StreamPlan& plan : seat) {
                plan.start_offset = {static_cast<std::int64_t>(all.size()) * request_.stagger.ns};
                if (const auto time = reading_time(request_)) plan.stop_offset = plan.start_offset + *time;
                all.push_back(std::move(plan));
            }
        }
        return all;
    }

    StreamPlan planned(std::uint32_t seat,
                       std::uint32_t number,
                       std::vector<Clip> clips,
                       const char* what) const {
        StreamPlan plan;
        play::PlayPath::Sources sources;
        for (const Clip& clip : clips) sources.push_back(clip.index);
        // Streams on one clock are one scene: one operator moves them all.
        const std::uint64_t stream = request_.sync ? 0 : number;
        const std::uint64_t seed = derive_seed(order_seed_, (std::uint64_t{seat} << 32) + stream);
        const auto make = request_.multicam == MultiCam::active ? play::make_angle_path : play::make_path;
        plan.path = make(std::move(sources), request_.order, request_.rate, seed);
        plan.name = clips.front().name;
        if (clips.size() > 1)
            plan.name = fmt::format("{} {}: {} ... {}", clips.size(), what, plan.name, clips.back().name);
        plan.format = formats_of(clips);
        plan.clips = std::move(clips);
        finish(seat, number, plan);
        return plan;
    }

private:
    StreamPlan recorder(std::uint32_t seat, std::uint32_t number, const MediaFormat& format) const {
        auto record = std::make_shared<RecordPlan>();
        record->format = format;
        record->options.durable = request_.record.durable;
        record->options.distinct = media::distinct_frames(format);
        std::string root = request_.record.directory;
        if (root.empty()) {  // a plan without real storage: the recorder makes its directories on the loop
            root = join_path(planned_root(request_.target), media::kRecordings);
            record->options.directories.push_back(root);
        }
        const std::uint32_t first_seat = schedule_ ? schedule_->first_seat : 0;
        const std::uint32_t first_stream = schedule_ ? schedule_->first_stream : 0;
        const std::string name =
            join_path(root, media::recording_name(first_seat + seat, first_stream + number));
        StreamPlan plan;
        Clip clip;
        clip.name = name;
        clip.format = format.name;
        clip.index = media::recording_index(format, request_.seed, alignment_, name);
        plan.path = play::make_path({clip.index}, {}, request_.rate, 0);
        const std::string target = join_path(request_.target.name(), "");
        plan.name = name.starts_with(target) ? name.substr(target.size()) : name;
        if (clip.index->file_per_frame()) record->options.directories.push_back(name);
        plan.format = format.name;
        plan.clips.push_back(std::move(clip));
        set_options(seat, number, plan);
        plan.options.pattern = play::AccessPattern::on_demand;
        plan.bytes_per_slot = format.mean_frame_bytes;
        plan.record = std::move(record);
        return plan;
    }

    std::uint32_t next_of(std::uint32_t seat) const { return static_cast<std::uint32_t>(seats_[seat].size()); }

    std::uint32_t seat_of(std::uint32_t stream) const {
        return request_.total_streams ? stream % request_.seats : stream / request_.streams;
    }

    void set_options(std::uint32_t seat, std::uint32_t stream, StreamPlan& plan) const {
        plan.options = player_options(request_, *plan.path, usual_, alignment_);
        plan.options.seat = seat;
        plan.options.stream = stream;
        plan.request = &request_;
    }

    void finish(std::uint32_t seat, std::uint32_t stream, StreamPlan& plan) const {
        set_options(seat, stream, plan);
        plan.bytes_per_slot = mean_slot_bytes(*plan.path);
        plan.layers = request_.layers;
        const auto format = std::find_if(request_.formats.begin(), request_.formats.end(),
                                         [&plan](const MediaFormat& each) { return each.name == plan.format; });
        if (format != request_.formats.end()) plan.decoded = &*format;
    }

    Result<void> check(const StreamPlan& plan, const StreamPlan& first) const {
        if (plan.options.slots == 0) return bad_input("--duration is too short: not one frame would be played");
        if (plan.options.paced && plan.options.slots > kSlotsMax) {
            return bad_input(fmt::format("--duration: a stream of {} frames was asked for, {} are the most",
                                         show_count(plan.options.slots), show_count(kSlotsMax)));
        }
        // A schedule ends the stream, whatever it was asked for.
        if (plan.options.paced && !schedule_ && plan.options.slots > plan.path->slots_in(kLastDue)) {
            return bad_input(fmt::format("--fps: a stream of {} frames at {} fps plays for more than 146 years",
                                         show_count(plan.options.slots), plan.rate().to_string()));
        }
        if (auto alike = check_rates(plan); !alike) return alike;
        if (request_.sync && plan.record == nullptr && plan.rate() != first.rate()) {
            return bad_input(fmt::format(
                "--sync: {} has {} fps and {} has {}, and streams on one clock have one rate: give --fps",
                first.name, first.rate().to_string(), plan.name, plan.rate().to_string()));
        }
        return {};
    }

    /// Clips of layers and angles have one rate. A cut list has been checked when it was resolved.
    Result<void> check_rates(const StreamPlan& plan) const {
        if (request_.rate || !request_.paced || request_.order.kind == play::PlayOrder::Kind::cuts) return {};
        const Clip& first = plan.clips.front();
        for (const Clip& clip : plan.clips) {
            if (clip.index->rate() == first.index->rate()) continue;
            const bool angles = request_.multicam == MultiCam::active;
            return bad_input(fmt::format(
                "{}: {} has {} fps and {} has {}, and {} of one stream have one rate: give --fps",
                angles ? "--multicam active" : "--layers", first.name, first.index->rate().to_string(),
                clip.name, clip.index->rate().to_string(), angles ? "angles" : "layers"));
        }
        return {};
    }

    const PlayRequest& request_;
    const std::optional<PartSchedule>& schedule_;
    const std::uint64_t order_seed_;
    const Duration usual_;
    std::uint32_t alignment_;
    std::vector<std::vector<StreamPlan>> seats_;
};

/// Gives a stream, planned as if its part were the whole run, its seat, number and times in the run.
void apply(const PartSchedule& schedule, const PlayRequest& request, StreamPlan& plan) {
    const Duration start = schedule.start(plan.options.seat, plan.options.stream);
    const Duration end = schedule.end(plan.options.seat);
    plan.start_offset = start;
    if (plan.options.paced) {
        plan.options.slots = std::min(plan.path->slots_in(end - start), request.frames.value_or(UINT64_MAX));
    } else {
        plan.stop_offset = end;
    }
    plan.options.seat += schedule.first_seat;
    plan.options.stream += schedule.first_stream;
}

void mark_shared_clips(std::vector<StreamPlan>& streams) {
    std::map<ClipKey, std::uint32_t> players;
    for (const StreamPlan& plan : streams) {
        for (const Clip& clip : plan.clips) ++players[key_of(clip)];
    }
    for (StreamPlan& plan : streams) {
        plan.shares_clip = std::any_of(plan.clips.begin(), plan.clips.end(),
                                       [&players](const Clip& clip) { return players[key_of(clip)] > 1; });
    }
}

}  // namespace

ClipKey key_of(const Clip& clip) {
    return {clip.file, clip.file.empty() ? clip.index.get() : nullptr};
}

Duration usual_length(const PlayRequest& request, const FoundMedia& media) {
    if (!media.cuts) return kDefaultDuration;
    return request.rate.value_or(media.cuts->rate).due(media.cuts->frames);
}

std::map<const FrameIndex*, std::uint32_t> clip_numbers(const std::vector<StreamPlan>& streams) {
    std::map<const FrameIndex*, std::uint32_t> numbers;
    for (const StreamPlan& plan : streams) {
        for (const Clip& clip : plan.clips)
            numbers.emplace(clip.index.get(), static_cast<std::uint32_t>(numbers.size()));
    }
    return numbers;
}

Result<std::vector<StreamPlan>> plan_parts(const std::vector<PlayPart>& parts,
                                           std::uint32_t alignment,
                                           Duration* play_time) {
    std::vector<StreamPlan> all;
    for (const PlayPart& part : parts) {
        StreamPlanner planner(part, alignment);
        if (part.media.cuts) {
            planner.assign(*part.media.cuts);
        } else {
            for (const auto& clips : part.media.clips) planner.assign(clips);
        }
        planner.plan_recorders();
        auto planned = planner.take();
        if (!planned) return planned.error();
        for (StreamPlan& plan : *planned) {
            if (part.schedule) apply(*part.schedule, part.request, plan);
            if (play_time != nullptr && plan.options.paced) *play_time = std::max(*play_time, plan.play_time());
            if (play_time != nullptr && !part.schedule && plan.stop_offset)
                *play_time = std::max(*play_time, *plan.stop_offset);
            all.push_back(std::move(plan));
        }
    }
    mark_shared_clips(all);
    std::erase_if(all, [](const StreamPlan& plan) { return !plan.request->plays(plan.options.seat); });
    std::stable_sort(all.begin(), all.end(), [](const StreamPlan& a, const StreamPlan& b) {
        return std::pair(a.options.seat, a.options.stream) < std::pair(b.options.seat, b.options.stream);
    });
    return all;
}

StreamPlan plan_another(const PlayPart& part,
                        std::uint32_t seat,
                        std::uint32_t stream,
                        std::vector<Clip> clips,
                        std::uint32_t alignment) {
    return StreamPlanner(part, alignment).planned(seat, stream, std::move(clips), "layers");
}

}  // namespace streamsim::run
