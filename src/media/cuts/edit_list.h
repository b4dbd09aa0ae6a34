// An edit list as it was read, before its clips are looked for: what EDL and OpenTimelineIO have in common.
// Inside media/ and for its callers, who pass it on unread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/timecode.h"
#include "streamsim/cut_list.h"

namespace streamsim::media {

/// The names that a list gives a piece of media. Empty: not stated.
struct EditMedia {
    std::string file;  // a path, a URL's path or a file name
    std::string name;  // name of the clip
    std::string reel;
    /// Source frames count from this one (OpenTimelineIO's available_range); else by time code.
    std::optional<std::int64_t> start;
    /// Frame number in the name of the file that `start` is (OpenTimelineIO's image sequences).
    std::optional<std::int64_t> start_number;
    /// Frames a second that source times are counted in; EDL: not said.
    std::optional<FrameRate> rate;
    /// `rate` is that of the media, by its own statement, and not of the place where it is used.
    bool own_rate = false;
    /// Length of the media in frames at `rate`, by its available_range.
    std::optional<double> frames;
};

/// Source frames for a record frame, as a fraction; den > 0.
struct EditSpeed {
    std::int64_t num = 1;
    std::int64_t den = 1;
};

/// A piece of media on the record timeline.
struct EditPiece {
    std::uint64_t at = 0;
    std::uint64_t frames = 0;
    std::uint32_t media = 0;
    std::int64_t first = 0;  // source frame, in the media's counting
    EditSpeed speed;
    std::int64_t day = 0;     // source frames in 24 hours of time code
    std::int64_t origin = 0;  // once found: the source frame that is the first of the clip
    /// Parts of `frames` at the beginning and at the end that lie outside of the event, for a transition.
    std::uint64_t handle_before = 0;
    std::uint64_t handle_after = 0;
    std::string event;  // "event 012"
    std::string place;  // "list.edl: line 12", "list.otio: /tracks/children/0"

    /// The source frame that is shown i record frames after the first.
    std::int64_t source_at(std::uint64_t i) const { return first + floor_scaled(i, speed.num, speed.den); }
};

/// One line of an EDL that is an event with a picture.
struct EdlEvent {
    enum class Kind { cut, transition, key };
    std::size_t line = 0;
    std::string number;
    Kind kind = Kind::cut;
    std::uint64_t transition_frames = 0;
    bool black = false;
    std::uint32_t media = 0;  // black: none
    std::uint32_t track = 1;
    TimecodeLabel source_in, source_out, record_in, record_out;
    /// Drop frame of the source by FCM; counts unless the separators of the line or the clip say it.
    bool drop = false;
    bool separators_speak = false;  // one of the line's time codes is written as drop frame
    /// Frames a second of the source by an M2 line, in thousandths; negative: backwards.
    std::optional<std::int64_t> milli_fps;
    /// The line of the same event before this one, which a transition comes from.
    std::optional<std::size_t> outgoing;
};

/// Errors of the list itself have been found by then; those that need the clips or their rate have not.
struct EditList {
    std::string source;  // the file, as in messages
    std::string name;
    bool ignore_mismatch = false;  // source and record lengths of an EDL may differ: the record counts
    std::vector<EditMedia> media;
    std::vector<EdlEvent> edl;      // EDL: in the order of the file
    bool fcm = false;               // EDL: it has an FCM line
    bool record_drop = false;       // EDL: by its first FCM; the tape has one way of counting
    std::vector<EditPiece> pieces;  // OpenTimelineIO: as shown, sorted
    std::optional<FrameRate> rate;  // OpenTimelineIO
    std::uint64_t frames = 0;       // OpenTimelineIO
    std::uint64_t events = 0;
    std::vector<std::string> notes;
};

}  // namespace streamsim::media
