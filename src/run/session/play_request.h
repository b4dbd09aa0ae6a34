// What a user asks for when he plays: the options of the command line or of a scenario, before any media is
// looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "media/cuts/edit_list.h"
#include "play/player.h"
#include "run/playback/backends.h"
#include "run/session/meters.h"
#include "storage/fault/fault_plan.h"
#include "streamsim/media.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

/// The streams of a seat are angles of one scene.
enum class MultiCam {
    none,
    all,     // every angle is read, on one clock: a cut between them costs nothing
    active,  // only the one that is shown is read: a cut between them is a seek
};

/// Streams that write frames on deadlines, beside those that play or alone.
struct RecordRequest {
    std::uint32_t streams = 0;         // per seat, of each format
    std::vector<MediaFormat> formats;  // REQUIRES: where there are streams, not empty
    bool durable = false;              // a frame is complete when its fsync is done
    bool keep = false;                 // the recordings stay after the run
    std::string directory;             // where they go, while the run lasts; empty: nowhere but in a plan
};

struct PlayRequest {
    target::Target target;
    Credentials credentials;           // for the target; in no result
    std::vector<MediaFormat> formats;  // empty: whatever clips the target holds
    std::uint32_t streams = 1;         // per seat, of each format; 0: meters alone
    std::vector<MeterPart> meters;     // beside the streams
    RecordRequest record;
    std::uint32_t seats = 1;  // of the whole run
    /// Of these seats this process plays [first_seat, first_seat + own_seats), as if it were one of those that
    /// one process plays: the same clips, the same numbers. Nothing: all.
    std::uint32_t first_seat = 0;
    std::optional<std::uint32_t> own_seats;
    std::optional<std::uint32_t> total_streams;  // instead: of each format, dealt round robin over the seats
    bool same_media = false;                     // all streams of a format play one clip
    play::PlayOrder order;
    std::optional<media::EditList> cuts;  // order cuts: what to play of the clips below the target
    std::uint32_t layers = 1;             // clips that lie on each other in each stream
    bool sync = false;                    // the streams of a seat run on one clock
    MultiCam multicam = MultiCam::none;
    bool audio = false;             // read along with the frames
    bool keep_index = false;        // of a container, beside it
    std::optional<FrameRate> rate;  // nothing: the clip's own
    bool paced = true;              // false: --fps max
    std::optional<Duration> duration;
    std::optional<std::uint64_t> frames;
    std::optional<Duration> clip_duration;
    std::optional<play::AccessPattern> pattern;  // nothing: by the kind of clip
    std::uint32_t readahead = 8;
    std::uint32_t inflight = 2;
    std::uint64_t io_size = 1 << 20;  // 0: a frame in one read
    std::uint32_t io_depth = 8;
    play::OnMiss on_miss = play::OnMiss::drop;
    Duration preroll_timeout = seconds(10);
    Duration stagger;
    Duration decode_cpu;
    std::optional<storage::FaultPlan> faults;
    std::vector<SeatSetting> seat_settings;   // of a model: by seat; fewer than seats: the rest as it comes
    std::vector<ScenarioFault> model_faults;  // what happens inside a model; at: from the beginning of the run
    StorageWrapper through;                   // what stands between the players and the storage: a trace
    IoChoice io = IoChoice::automatic;
    bool direct = true;
    bool cold = false;          // evict the clips from this client's page cache first
    bool require_cold = false;  // fail the verdict where a cache may have been warm
    bool realtime = false;
    std::vector<std::string> remarks;  // on what was asked for: said, and kept in the result
    std::uint32_t loops = 0;           // player threads; 0: as the load needs
    std::uint32_t spare_streams = 0;   // that may be added while it plays; 0: none comes or goes by hand
    std::uint64_t seed = 1;
    bool keep_frames = false;      // one row a frame is wanted
    bool keep_histograms = false;  // of each stream: the result is to be merged with others
    bool find_cause = true;        // where it fails: some seconds of reading afterwards, to find out why

    bool plays(std::uint32_t seat) const {
        return seat >= first_seat && (!own_seats || seat - first_seat < *own_seats);
    }
};

/// How long a stream plays where nothing is asked for.
inline constexpr Duration kDefaultDuration = seconds(60);

}  // namespace streamsim::run
