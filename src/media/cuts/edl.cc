#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/document/problems.h"
#include "base/units.h"
#include "base/utf8.h"
#include "media/cuts/edit_readers.h"

namespace streamsim::media {
namespace {

using Tokens = std::vector<std::string_view>;

constexpr std::size_t kTransitionDigitsMax = 6;
constexpr std::size_t kReelShown = 40;
constexpr std::uint32_t kHoursMax = 99;
constexpr std::uint32_t kTrackMax = 999;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

Tokens split(std::string_view line) {
    Tokens out;
    for (std::size_t at = 0; at < line.size();) {
        while (at < line.size() && is_blank(line[at])) ++at;
        std::size_t end = at;
        while (end < line.size() && !is_blank(line[end])) ++end;
        if (end > at) out.push_back(line.substr(at, end - at));
        at = end;
    }
    return out;
}

/// True for text meant as a time code, valid or not: digits and at least two separators.
bool looks_like_time(std::string_view token) {
    const auto is_separator = [](char c) { return c == ':' || c == ';' || c == '.' || c == ','; };
    if (token.empty() || !is_digit(token.front()) ||
        std::count_if(token.begin(), token.end(), is_separator) < 2)
        return false;
    return std::all_of(token.begin(), token.end(), [&](char c) { return is_digit(c) || is_separator(c); });
}

std::optional<std::uint64_t> small_number(std::string_view text) {
    std::uint64_t value = 0;
    if (text.empty() || text.size() > kTransitionDigitsMax) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "47.952", "-024.0" in thousandths.
std::optional<std::int64_t> milli(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::size_t point = text.find('.');
    const auto whole = small_number(text.substr(0, point));
    if (!whole) return std::nullopt;
    std::uint64_t value = *whole * 1000;
    if (point != std::string_view::npos) {
        std::uint64_t weight = 100;
        for (const char c : text.substr(point + 1)) {
            if (!is_digit(c)) return std::nullopt;
            value += static_cast<std::uint64_t>(c - '0') * weight;
            weight /= 10;
        }
    }
    return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = first_character(text).bytes;
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

/// Latin-1, which old systems write, as UTF-8.
std::string from_latin1(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x80) {
            out += c;
        } else {
            out += static_cast<char>(0xc0 | code >> 6);
            out += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    return out;
}

/// The video track in "V", "V2", "A", "AA/V", "A2/V", "VA1A2", "B" (both), "NONE"; 0: there is no picture.
/// Nothing when it is none of these, and for a track above kTrackMax.
std::optional<std::uint32_t> video_track(std::string_view text) {
    const std::string channels = upper(text);
    if (channels == "NONE") return 0;
    if (channels == "B" || channels.starts_with("B/")) return 1;
    if (channels.empty() || (channels.front() != 'V' && channels.front() != 'A')) return std::nullopt;
    if (channels.find_first_not_of("VA/0123456789,+-") != std::string::npos) return std::nullopt;
    const std::size_t v = channels.find('V');
    if (v == std::string::npos) return 0;
    const char* const number = channels.data() + v + 1;
    std::uint32_t track = 1;
    const auto read = std::from_chars(number, channels.data() + channels.size(), track);
    if (read.ec == std::errc::result_out_of_range || track > kTrackMax) return std::nullopt;
    return std::max(1u, track);
}

struct NamedEvent {
    EdlEvent event;
    EditMedia media;
};

class EdlParser {
public:
    explicit EdlParser(const std::string& source) : problems_(source) { list_.source = source; }

    Result<EditList> parse(std::string_view text) {
        if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
            return bad_input(fmt::format("{}: byte 0: this is UTF-16, expected UTF-8 or ASCII", list_.source));
        if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
        std::string converted;
        if (!is_utf8(text)) {
            converted = from_latin1(text);
            text = converted;
            list_.notes.emplace_back("not UTF-8: names are read as Latin-1");
        }
        while (!text.empty()) {
            const std::size_t end = text.find_first_of("\r\n");
            ++line_;
            read_line(trim(text.substr(0, end)));
            if (end == std::string_view::npos) break;
            text.remove_prefix(text.substr(end, 2) == "\r\n" ? end + 2 : end + 1);
        }
        finish_group();
        if (events_.empty() && problems_.empty() && audio_ == 0)
            problem(1, "no event in it: expected lines such as 001  REEL  V  C  and four time codes");
        else if (events_.empty() && problems_.empty())
            problem(1, "none of its {} events has a picture", audio_);
        if (!problems_.empty()) return problems_.error();
        return finish();
    }

private:
    template <typename... Args>
    void problem(std::size_t line, fmt::format_string<Args...> text, Args&&... args) {
        problems_.add(
            fmt::format("{}: line {}: {}", list_.source, line, fmt::format(text, std::forward<Args>(args)...)));
    }

    void read_line(std::string_view line) {
        if (line.empty()) return;
        if (is_digit(line.front())) return read_event(line);
        const std::string word = upper(line.substr(0, 6));
        if (word.starts_with("TITLE:")) {
            if (list_.name.empty()) list_.name = std::string(trim(line.substr(6)));
        } else if (word.starts_with("FCM:")) {
            const std::string rest = upper(line.substr(4));
            drop_ = rest.find("DROP") != std::string::npos && rest.find("NON") == std::string::npos;
            if (!list_.fcm) list_.record_drop = drop_;
            list_.fcm = true;
        } else if (word.starts_with("M2") && line.size() > 2 && is_blank(line[2])) {
            read_speed(line);
        } else if (word.starts_with("SPLIT:")) {
            splits_ = true;
        } else {
            read_comment(line);
        }
    }

    void read_event(std::string_view line) {
        const Tokens tokens = split(line);
        const std::string number(tokens.front());
        if (number != number_) finish_group();
        number_ = number;
        NamedEvent named;
        EdlEvent& event = named.event;
        event.line = line_;
        event.number = number;
        event.drop = drop_;
        audio_line_ = false;
        const auto first_time = std::find_if(tokens.begin() + 1, tokens.end(), looks_like_time);
        const auto times = static_cast<std::size_t>(first_time - tokens.begin());
        if (tokens.size() < times + 4) {
            return problem(
                line_, "event {}: expected four time codes (source in and out, record in and out), found {}",
                number, tokens.size() - times);
        }
        const auto track = read_head(tokens, times, named);
        if (!track || !read_times(tokens, times, event)) return;
        if (*track == 0) {
            ++audio_;
            audio_line_ = true;
            return;
        }
        event.track = *track;
        const std::string reel = upper(named.media.reel);
        event.black = reel == "BL" || reel == "BLACK";
        if (!group_.empty() && event.kind != EdlEvent::Kind::cut && group_.back().event.track == event.track)
            event.outgoing = events_.size() + group_.size() - 1;
        group_.push_back(std::move(named));
    }

    /// NNN REEL CHANNELS TRANSITION [DURATION], read from its end: reels have been seen with blanks in them.
    std::optional<std::uint32_t> read_head(const Tokens& tokens, std::size_t end, NamedEvent& named) {
        EdlEvent& event = named.event;
        if (end > 3 && small_number(tokens[end - 1])) event.transition_frames = *small_number(tokens[--end]);
        if (end > 3 && upper(tokens[end - 1]) == "(F)") --end;
        std::string code = end > 3 ? upper(tokens[end - 1]) : "";
        if ((code == "B" || code == "O") && end > 4 && upper(tokens[end - 2]) == "K") {
            code = "K" + code;
            --end;
        }
        const bool wipe =
            code.size() >= 2 && code.front() == 'W' && small_number(std::string_view(code).substr(1));
        if (code == "D" || wipe) {
            event.kind = EdlEvent::Kind::transition;
        } else if (code == "K" || code == "KB" || code == "KO") {
            event.kind = code == "KB" ? EdlEvent::Kind::cut : EdlEvent::Kind::key;
        } else if (code != "C") {
            problem(line_,
                    "event {}: expected a reel, channels and a transition (C, D, Wnnn, K, KB, KO) before the "
                    "time codes, found \"{}\"",
                    event.number, joined(tokens, 1, end));
            return std::nullopt;
        }
        const auto track = video_track(tokens[end - 2]);
        if (!track) {
            problem(line_, "event {}: expected channels such as V, A2 or AA/V, V{} at most, found \"{}\"",
                    event.number, kTrackMax, tokens[end - 2].substr(0, kReelShown));
            return std::nullopt;
        }
        named.media.reel = joined(tokens, 1, end - 2);
        return track;
    }

    static std::string joined(const Tokens& tokens, std::size_t from, std::size_t to) {
        return fmt::format("{}", fmt::join(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                                           tokens.begin() + static_cast<std::ptrdiff_t>(to), " "));
    }

    bool read_times(const Tokens& tokens, std::size_t at, EdlEvent& event) {
        TimecodeLabel* const labels[] = {&event.source_in, &event.source_out, &event.record_in,
                                         &event.record_out};
        bool good = true;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto label = read_timecode_label(tokens[at + i]);
            if (!label || label->hours > kHoursMax) {
                problem(line_, "event {}: '{}' is not a time code: expected HH:MM:SS:FF", event.number,
                        tokens[at + i].substr(0, kReelShown));
                good = false;
                continue;
            }
            *labels[i] = *label;
            event.separators_speak = event.separators_speak || label->says_drop();
        }
        return good;
    }

    /// M2 REEL FPS TIMECODE, after the lines of its event.
    void read_speed(std::string_view line) {
        const Tokens tokens = split(line);
        const bool timed = tokens.size() > 2 && looks_like_time(tokens.back());
        const std::size_t at = tokens.size() - (timed ? 2 : 1);
        const auto fps = at >= 1 ? milli(tokens[at]) : std::nullopt;
        if (!fps) return problem(line_, "expected M2, a reel, frames a second and a time code");
        if (group_.empty()) {
            if (!audio_line_ && problems_.empty()) problem(line_, "this M2 line follows no event");
            return;
        }
        const std::string reel = upper(joined(tokens, 1, at));
        NamedEvent* of = nullptr;
        for (NamedEvent& named : group_) {
            if (upper(named.media.reel) == reel && (of == nullptr || of->event.milli_fps)) of = &named;
        }
        (of == nullptr ? group_.back() : *of).event.milli_fps = *fps;
    }

    void read_comment(std::string_view line) {
        while (!line.empty() && (line.front() == '*' || is_blank(line.front()))) line.remove_prefix(1);
        const std::string head = upper(line.substr(0, 22));
        const auto value_of = [&](std::string_view key) -> std::optional<std::string> {
            if (!head.starts_with(key)) return std::nullopt;
            return std::string(trim(line.substr(key.size())));
        };
        if (head.starts_with("FINAL CUT PRO REEL:")) return read_long_reel(line.substr(19));
        if (group_.empty()) return;  // comments of an event without a picture, or of the whole list
        constexpr std::pair<std::string_view, bool> kNames[] = {{"FROM CLIP NAME:", false},
                                                                {"CLIP NAME:", false},
                                                                {"TO CLIP NAME:", true},
                                                                {"KEY CLIP NAME:", true}};
        for (const auto& [key, is_to] : kNames) {
            const auto name = value_of(key);
            if (!name) continue;
            (is_to ? to_ : from_) = *name;
            last_is_to_ = is_to;
        }
        const auto file = value_of("SOURCE FILE:");
        if (file && !file->empty()) files_.push_back({*file, last_is_to_, !from_.empty() || !to_.empty()});
    }

    /// Final Cut Pro: "FINAL CUT PRO REEL: A001C002_0101 REPLACED BY: A001C002".
    void read_long_reel(std::string_view rest) {
        constexpr std::string_view kBy = "REPLACED BY:";
        const std::size_t by = upper(rest).find(kBy);
        if (by == std::string::npos) return;
        long_reels_[upper(trim(rest.substr(by + kBy.size())))] = std::string(trim(rest.substr(0, by)));
    }

    /// The comments stand after the lines of an event; FROM is its first line or, where a transition stands
    /// alone, the event before it; TO is the last line.
    void finish_group() {
        if (!group_.empty()) {
            EditMedia& incoming = group_.back().media;
            EditMedia* const outgoing = group_.size() > 1 ? &group_.front().media : nullptr;
            const bool transition = group_.back().event.kind == EdlEvent::Kind::transition;
            if (outgoing != nullptr) {
                if (outgoing->name.empty()) outgoing->name = from_;
                incoming.name = to_.empty() && group_.back().event.kind == EdlEvent::Kind::cut ? from_ : to_;
            } else if (!transition) {
                incoming.name = from_.empty() ? to_ : from_;
            } else if (!to_.empty()) {
                incoming.name = to_;
            } else if (events_.empty() || events_.back().media.name != from_) {
                incoming.name = from_;
            }
            assign_files(outgoing, incoming, transition);
            for (NamedEvent& named : group_) events_.push_back(std::move(named));
        }
        group_.clear();
        files_.clear();
        from_.clear();
        to_.clear();
        last_is_to_ = false;
    }

    void assign_files(EditMedia* outgoing, EditMedia& incoming, bool transition) {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const bool second = files_[i].named ? files_[i].after_to : i + 1 == files_.size();
            if (outgoing != nullptr && !second) {
                outgoing->file = files_[i].name;
            } else if (outgoing != nullptr || !transition || second || to_.empty()) {
                incoming.file = files_[i].name;
            }
        }
    }

    Result<EditList> finish() {
        std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> known;
        for (NamedEvent& named : events_) {
            EditMedia& media = named.media;
            if (const auto found = long_reels_.find(upper(media.reel)); found != long_reels_.end())
                media.reel = found->second;
            if (!named.event.black) {
                const auto next = static_cast<std::uint32_t>(list_.media.size());
                const auto [entry, is_new] = known.try_emplace({media.file, media.name, media.reel}, next);
                if (is_new) list_.media.push_back(media);
                named.event.media = entry->second;
            }
            list_.edl.push_back(std::move(named.event));
        }
        std::string last;
        for (const EdlEvent& event : list_.edl) {
            if (event.number != last || !event.outgoing) ++list_.events;
            last = event.number;
        }
        if (audio_ > 0)
            list_.notes.push_back(fmt::format("{} {} without a picture ignored", show_count(audio_),
                                              audio_ == 1 ? "event" : "events"));
        if (splits_) list_.notes.emplace_back("SPLIT: delays of the sound are ignored");
        return std::move(list_);
    }

    struct SourceFile {
        std::string name;
        bool after_to;
        bool named;  // a clip name stands before it
    };

    EditList list_;
    ProblemList problems_;
    std::size_t line_ = 0;
    bool drop_ = false;
    bool splits_ = false;
    bool audio_line_ =
        false;  // the previous line was an event without a picture, which owns the comments that follow
    std::uint64_t audio_ = 0;
    std::string number_;
    std::vector<NamedEvent> events_;
    std::vector<NamedEvent> group_;  // the lines of one event number, until the next one
    std::string from_, to_;
    bool last_is_to_ = false;
    std::vector<SourceFile> files_;
    std::map<std::string, std::string> long_reels_;
};

}  // namespace

Result<EditList> parse_edl(std::string_view text, const std::string& source) {
    return EdlParser(source).parse(text);
}

}  // namespace streamsim::media
