// PlayRequest: the options of the command line or of a scenario, before any media are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "media/cuts/edit_list.h"
#include "play/play_path.h"
#include "play/player_options.h"
#include "run/backends/backends.h"
#include "streamsim/media.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// The streams of a seat are angles of one scene.
enum class MultiCam {
    none,
    all,     // reads every angle, on one clock: a cut between them costs nothing
    active,  // reads only the angle that is shown: a cut between them is a seek
};

inline const play::Words<MultiCam> kMultiCamWords = {
    {"none", MultiCam::none}, {"all", MultiCam::all}, {"active", MultiCam::active}};

/// Streams that write frames on deadlines, beside those that play or alone.
struct RecordRequest {
    std::uint32_t streams = 0;         // per seat, of each format
    std::vector<MediaFormat> formats;  // REQUIRES: not empty where there are streams
    bool durable = false;              // a frame is complete when its fsync is done
    bool keep = false;                 // the recordings stay after the run
    std::string directory;             // of the recordings during the run; empty: in a plan only
};

/// A meter on some seats of a run. Times in its spec count from the start of play.
struct MeterPart {
    MeterSpec spec;
    std::uint32_t first_seat = 0;
    std::uint32_t seats = 1;
    Duration one_more_every;          // on the seat i of them it begins and ends so many times i later
    std::optional<Duration> all_end;  // it ends then at the latest, on every seat
};

struct PlayRequest : play::ReadSettings, StorageRequest {
    // Made once (play_request.cc), and not in each file.
    PlayRequest();
    PlayRequest(const PlayRequest&);
    PlayRequest(PlayRequest&&) noexcept;
    PlayRequest& operator=(const PlayRequest&);
    PlayRequest& operator=(PlayRequest&&) noexcept;
    ~PlayRequest();

    Credentials credentials;           // for the target; in no result
    std::vector<MediaFormat> formats;  // empty: whatever clips the target holds
    std::uint32_t streams = 1;         // per seat, of each format; 0: meters alone
    std::vector<MeterPart> meters;     // beside the streams
    RecordRequest record;
    /// This process plays `own_seats` seats, from `first_seat` on each `seat_step`th, with the clips and
    /// numbers that they have where one process plays all seats. Nothing: all.
    std::uint32_t first_seat = 0;
    std::uint32_t seat_step = 1;
    std::optional<std::uint32_t> own_seats;
    /// This process leads others that play: it opens no storage, and may not have it.
    bool only_leads = false;
    std::optional<std::uint32_t> total_streams;  // instead: of each format, assigned round robin over the seats
    bool same_media = false;                     // all streams of a format play one clip
    play::PlayOrder order;
    std::optional<media::EditList> cuts;  // order cuts: the events to play
    std::uint32_t layers = 1;             // clips that each stream shows at once
    bool sync = false;                    // the streams of a seat run on one clock
    MultiCam multicam = MultiCam::none;
    bool audio = false;                         // is read with the frames
    std::uint32_t folder_depth = kFolderDepth;  // levels below TARGET in which clips are looked for
    bool keep_index = false;                    // a container's index is stored beside it
    std::optional<FrameRate> rate;              // nothing: the clip's own
    std::optional<Duration> duration;
    std::optional<std::uint64_t> frames;
    std::optional<Duration> clip_duration;
    std::optional<double> prove_per_day;  // play lasts until this claim is decided (judge/prove.h)
    Duration preroll_timeout = seconds(10);
    Duration stagger;
    Duration decode_cpu;
    bool direct = true;
    bool cold = false;               // evict the clips from this client's page cache first; tells what stays
    bool evict = false;              // the same where nobody asked for it: tells nothing
    bool require_cold = false;       // fail the verdict where a cache may have been warm
    bool media_read_before = false;  // by this command, which has not emptied any cache since
    bool caches_emptied = false;     // by a command of the user between the search for the media and play
    bool realtime = false;
    std::vector<std::string> remarks;  // on the request: notices of the run
    std::uint32_t loops = 0;           // player threads; 0: as the load needs
    std::uint32_t spare_streams = 0;   // that may be added during play; 0: none is added or removed by hand
    bool keep_frames = false;          // one row a frame, for --csv
    bool keep_histograms = false;      // of each stream, for merging
    bool find_cause = true;            // diagnose a run that fails: some seconds of reading
    bool find_capacity = false;        // of a model, also where everything plays: what it delivers at most

    bool plays(std::uint32_t seat) const {
        return seat >= first_seat && (seat - first_seat) % seat_step == 0 &&
               (!own_seats || (seat - first_seat) / seat_step < *own_seats);
    }
};

/// Lets the request play so many streams on all seats together. Seats that play none of them are left out,
/// unless the request has meters or recorders, which run on every seat.
void set_total_streams(PlayRequest& request, std::uint32_t streams);

/// The length of play without --duration and --frames; a cut list plays once (usual_length).
inline constexpr Duration kDefaultDuration = seconds(60);

}  // namespace streamsim::run
