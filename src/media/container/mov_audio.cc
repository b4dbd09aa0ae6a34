#include "media/container/mov_audio.h"

#include <algorithm>
#include <utility>

namespace streamsim::media {
namespace {

__extension__ using Signed = __int128;

constexpr std::int64_t kFarthestNs = std::int64_t{1} << 60;
constexpr std::int64_t kPieceLengthMaxNs = std::int64_t{1} << 40;

struct Piece {
    Extent extent;
    std::int64_t begin = 0;  // in ticks
};

std::optional<std::vector<Piece>> compressed_pieces(const SampleTable& table) {
    const auto& durations = table.durations();
    if (durations.size() == 1 && durations.front().ticks == 1) return std::nullopt;  // read as PCM
    const auto extents = table.extents();
    if (!extents) return std::nullopt;
    std::vector<Piece> pieces;
    pieces.reserve(extents->size());
    std::int64_t now = 0;
    for (const SampleRun& run : durations) {
        for (std::uint32_t k = 0; k < run.count; ++k, now += run.ticks)
            pieces.push_back({(*extents)[pieces.size()], now});
    }
    return pieces;
}

std::optional<std::vector<Piece>> pcm_pieces(const SampleTable& table, std::uint32_t sample_bytes) {
    constexpr std::uint32_t kSamples = 1024;
    const auto& durations = table.durations();
    if (durations.size() != 1 || durations.front().ticks != 1) return std::nullopt;
    std::vector<Piece> pieces;
    std::int64_t now = 0;
    const auto& runs = table.chunk_runs();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::uint32_t end = i + 1 < runs.size() ? runs[i + 1].first : table.chunks() + 1;
        for (std::uint32_t chunk = runs[i].first; chunk < end; ++chunk) {
            std::uint64_t offset = table.chunk_offset(chunk - 1);
            for (std::uint32_t left = runs[i].samples; left > 0;) {
                const std::uint32_t samples = std::min(left, kSamples);
                const std::uint64_t bytes = std::uint64_t{samples} * sample_bytes;
                if (pieces.size() >= SampleTable::kListedMax) return std::nullopt;
                pieces.push_back({{offset, bytes}, now});
                offset += bytes;
                now += samples;
                left -= samples;
            }
        }
    }
    return pieces;
}

/// Cuts the pieces behind the edit off. Those before it stay, because a decoder needs them.
bool cut_to(const MovEdit& edit,
            std::int64_t length,
            std::uint32_t ticks_per_second,
            std::vector<Piece>& pieces) {
    if (edit.begin < 0) return false;
    // libavformat begins a second before the edit: here only where this is the first piece.
    if (pieces.size() > 1 && edit.begin - std::int64_t{ticks_per_second} >= pieces[1].begin) return false;
    const std::int64_t end = edit.begin + length;
    for (std::size_t k = 0; k + 1 < pieces.size(); ++k) {
        if (pieces[k + 1].begin >= end) {
            pieces.resize(k + 1);
            break;
        }
    }
    const bool shown = pieces.back().begin >= edit.begin;
    for (Piece& piece : pieces) piece.begin -= edit.begin;
    return shown;
}

}  // namespace

std::int64_t ticks_to_ns(std::int64_t ticks, std::uint32_t ticks_per_second) {
    const Signed product = Signed{ticks} * 1'000'000'000;
    const Signed ns = product / ticks_per_second;
    return static_cast<std::int64_t>(
        std::clamp<Signed>(product < ns * ticks_per_second ? ns - 1 : ns, -kFarthestNs, kFarthestNs));
}

std::int64_t edit_length(const MovTrack& track, const MovEdit& edit, std::uint32_t movie_ticks_per_second) {
    const Signed product = Signed{edit.length} * track.ticks_per_second;
    return static_cast<std::int64_t>((product + movie_ticks_per_second / 2) / movie_ticks_per_second);
}

std::optional<std::vector<AudioPiece>> read_mov_audio(const MovTrack& track,
                                                      std::uint32_t movie_ticks_per_second,
                                                      std::int64_t base_ns) {
    const SampleTable& table = track.table;
    if (!table.all_sync() || !table.delays().empty() || track.edits.size() > 1) return std::nullopt;
    auto pieces =
        track.entry.pcm_bytes > 0 ? pcm_pieces(table, track.entry.pcm_bytes) : compressed_pieces(table);
    if (!pieces) return std::nullopt;
    if (!track.edits.empty()) {
        const MovEdit& edit = track.edits.front();
        const std::int64_t length = edit_length(track, edit, movie_ticks_per_second);
        if (!cut_to(edit, length, track.ticks_per_second, *pieces)) return std::nullopt;
    }
    std::vector<AudioPiece> audio;
    audio.reserve(pieces->size());
    for (const Piece& piece : *pieces) {
        const std::int64_t at = ticks_to_ns(piece.begin, track.ticks_per_second);
        if (at == kFarthestNs || at == -kFarthestNs) return std::nullopt;
        const std::int64_t start = at - base_ns;
        std::int64_t length = 0;  // of the last piece: that of the one before
        if (!audio.empty()) {
            length = std::clamp(start - audio.back().start_ns, std::int64_t{0}, kPieceLengthMaxNs);
            audio.back().length_ns = length;
        }
        audio.push_back({piece.extent, start, length});
    }
    return audio;
}

}  // namespace streamsim::media
