#include "media/container/sample_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace streamsim::media {
namespace {

constexpr std::uint64_t kOffsetMax = std::uint64_t{1} << 62;
constexpr std::uint32_t kSampleBytesMax = 0x1fffffff;
constexpr std::int64_t kDurationMax = 1 << 30;  // of one sample
constexpr std::int64_t kDelayMax = 1 << 28;
constexpr std::uint64_t kRunTicksMax = INT32_MAX;  // libavformat multiplies in 32 bits

/// The entries of a table behind its version, flags and their number; empty: fewer bytes than it claims.
std::optional<Bytes> entries_of(Bytes box, std::size_t entry_bytes) {
    constexpr std::size_t kHead = 8;
    if (box.size() < kHead || u32(box, 0) >> 24 > 1) return std::nullopt;
    const std::uint64_t count = u32(box, 4);
    if (count * entry_bytes > box.size() - kHead) return std::nullopt;
    return box.subspan(kHead, static_cast<std::size_t>(count) * entry_bytes);
}

/// Pairs of a count and a value; empty: they are not for exactly `samples` samples.
std::optional<std::vector<SampleRun>> runs_of(Bytes box, std::uint32_t samples) {
    const auto entries = entries_of(box, 8);
    if (!entries) return std::nullopt;
    std::vector<SampleRun> runs;
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < entries->size(); at += 8) {
        runs.push_back({u32(*entries, at), static_cast<std::int32_t>(u32(*entries, at + 4))});
        sum += runs.back().count;
        if (runs.back().count == 0) return std::nullopt;
    }
    if (sum != samples) return std::nullopt;
    return runs;
}

/// Groups of samples that say how far ahead of an audio sample decoding begins, which changes no table.
bool is_roll_group(const std::optional<Bytes>& box) {
    return !box || (box->size() >= 8 && u32(*box, 4) == box_type("roll"));
}

}  // namespace

std::optional<SampleTable> SampleTable::read(Bytes stbl) {
    const auto boxes = BoxSet::read(
        stbl, {box_type("stsd"), box_type("stts"), box_type("ctts"), box_type("stss"), box_type("stsc"),
               box_type("stsz"), box_type("stz2"), box_type("stco"), box_type("co64"), box_type("sdtp"),
               box_type("cslg"), box_type("sgpd"), box_type("sbgp")});
    if (!boxes || boxes->first() != box_type("stsd")) return std::nullopt;
    if (!is_roll_group(boxes->find(box_type("sgpd"))) || !is_roll_group(boxes->find(box_type("sbgp"))))
        return std::nullopt;
    SampleTable table;
    table.description_ = *boxes->find(box_type("stsd"));
    const auto stts = boxes->find(box_type("stts"));
    const auto ctts = boxes->find(box_type("ctts"));
    const auto stss = boxes->find(box_type("stss"));
    const auto sdtp = boxes->find(box_type("sdtp"));
    if (sdtp && sdtp->size() < 4) return std::nullopt;
    const bool good = table.read_sizes(*boxes) && table.read_chunks(*boxes) && stts &&
                      table.read_durations(*stts) && (!ctts || table.read_delays(*ctts)) &&
                      (!stss || table.read_sync(*stss));
    if (!good) return std::nullopt;
    return table;
}

bool SampleTable::read_sizes(const BoxSet& stbl) {
    const auto full = stbl.find(box_type("stsz"));
    const auto compact = stbl.find(box_type("stz2"));
    if (full.has_value() == compact.has_value()) return false;
    const Bytes box = full ? *full : *compact;
    if (box.size() < 12 || u32(box, 0) != 0) return false;
    samples_ = u32(box, 8);
    if (samples_ == 0 || samples_ > INT32_MAX) return false;
    if (full) one_size_ = u32(box, 4);
    if (one_size_ > 0) return true;
    size_bits_ = full ? 32 : u8(box, 7);
    if (size_bits_ != 4 && size_bits_ != 8 && size_bits_ != 16 && size_bits_ != 32) return false;
    sizes_ = box.subspan(12);
    if ((std::uint64_t{samples_} * size_bits_ + 7) / 8 > sizes_.size()) return false;
    for (std::uint32_t sample = 0; size_bits_ == 32 && sample < samples_; ++sample) {
        if (size_of(sample) > kSampleBytesMax) return false;
    }
    return true;
}

bool SampleTable::read_chunks(const BoxSet& stbl) {
    const auto narrow = stbl.find(box_type("stco"));
    const auto wide = stbl.find(box_type("co64"));
    const auto stsc = stbl.find(box_type("stsc"));
    if (narrow.has_value() == wide.has_value() || !stsc) return false;
    wide_offsets_ = wide.has_value();
    const auto offsets = entries_of(wide ? *wide : *narrow, wide ? 8 : 4);
    const auto runs = entries_of(*stsc, 12);
    if (!offsets || !runs) return false;
    chunk_offsets_ = *offsets;
    chunks_ = static_cast<std::uint32_t>(offsets->size() / (wide ? 8 : 4));
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
        if (chunk_offset(chunk) >= kOffsetMax) return false;
    }
    for (std::size_t at = 0; at < runs->size(); at += 12) {
        const ChunkRun run{u32(*runs, at), u32(*runs, at + 4)};
        const bool rises = chunk_runs_.empty() ? run.first == 1 : run.first > chunk_runs_.back().first;
        if (!rises || run.first > chunks_ || run.samples == 0 || u32(*runs, at + 8) != 1) return false;
        chunk_runs_.push_back(run);
    }
    std::uint64_t samples = 0;
    for (std::size_t i = 0; i < chunk_runs_.size() && samples <= samples_; ++i) {
        const std::uint64_t end = i + 1 < chunk_runs_.size() ? chunk_runs_[i + 1].first : chunks_ + 1;
        samples += (end - chunk_runs_[i].first) * chunk_runs_[i].samples;
    }
    return samples == samples_;
}

bool SampleTable::read_durations(Bytes stts) {
    auto runs = runs_of(stts, samples_);
    if (!runs) return false;
    for (const SampleRun& run : *runs) {
        if (run.ticks < 1 || run.ticks > kDurationMax) return false;
        if (std::uint64_t{run.count} * static_cast<std::uint64_t>(run.ticks) > kRunTicksMax) return false;
        length_ += run.count * run.ticks;
    }
    durations_ = std::move(*runs);
    return true;
}

bool SampleTable::read_delays(Bytes ctts) {
    auto runs = runs_of(ctts, samples_);
    if (!runs) return false;
    const auto absurd = [](const SampleRun& run) { return run.ticks > kDelayMax || run.ticks < -kDelayMax; };
    if (std::any_of(runs->begin(), runs->end(), absurd)) return false;
    delays_ = std::move(*runs);
    return true;
}

bool SampleTable::read_sync(Bytes stss) {
    sync_ = entries_of(stss, 4);
    if (!sync_ || sync_->empty()) return false;
    std::uint32_t last = 0;
    for (std::size_t at = 0; at < sync_->size(); at += 4) {
        const std::uint32_t sample = u32(*sync_, at);
        if (sample <= last || sample > samples_) return false;
        last = sample;
    }
    return true;
}

std::uint64_t SampleTable::chunk_offset(std::uint32_t chunk) const {
    return wide_offsets_ ? u64(chunk_offsets_, std::size_t{chunk} * 8)
                         : u32(chunk_offsets_, std::size_t{chunk} * 4);
}

std::uint32_t SampleTable::size_of(std::uint32_t sample) const {
    if (one_size_ > 0) return one_size_;
    const std::size_t index = sample;
    switch (size_bits_) {
        case 32: return u32(sizes_, index * 4);
        case 16: return u16(sizes_, index * 2);
        case 8: return u8(sizes_, index);
        default: return index % 2 == 0 ? u8(sizes_, index / 2) >> 4u : u8(sizes_, index / 2) & 0xfu;
    }
}

std::optional<std::vector<Extent>> SampleTable::extents() const {
    if (samples_ > kListedMax) return std::nullopt;
    std::vector<Extent> extents;
    extents.reserve(samples_);
    for (std::size_t i = 0; i < chunk_runs_.size(); ++i) {
        const std::uint32_t end = i + 1 < chunk_runs_.size() ? chunk_runs_[i + 1].first : chunks_ + 1;
        for (std::uint32_t chunk = chunk_runs_[i].first; chunk < end; ++chunk) {
            std::uint64_t offset = chunk_offset(chunk - 1);
            for (std::uint32_t k = 0; k < chunk_runs_[i].samples; ++k) {
                const std::uint32_t bytes = size_of(static_cast<std::uint32_t>(extents.size()));
                if (bytes == 0 || bytes > kSampleBytesMax) return std::nullopt;
                extents.push_back({offset, bytes});
                offset += bytes;
            }
        }
    }
    return extents;
}

std::vector<bool> SampleTable::sync() const {
    std::vector<bool> sync(samples_, all_sync());
    for (std::size_t at = 0; sync_ && at < sync_->size(); at += 4) sync[u32(*sync_, at) - 1] = true;
    return sync;
}

}  // namespace streamsim::media
