// The scene model: a clip is cut into shots; a shot holds a level; inside it the size wanders around the level
// as correlated noise (AR(1)), as the sizes of an intra codec at a constant quality do. The long GOP: each
// frame has the weight of its kind, and noise of its own. The sizes drawn so have the wrong mean and may pass
// the cap, so one scale factor is searched under which the sizes, each held between floor and cap, have the
// mean that the format states. The code uses only operations that IEEE 754 rounds in one way: + - * / and the
// square root.
#include "media/catalogue/frame_sizes.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/prng.h"
#include "media/frames/frame_maker.h"

namespace streamsim::media {
namespace {

constexpr std::uint64_t kSizes = 0x73697a6573;  // this use of the seed, apart from all others

constexpr double kRelativeMin = 0.01;  // floor of every size before scaling

/// Sizes relative to the mean, before scaling.
std::vector<double> scene_shape(const FrameSizeModel& model, std::uint64_t frames, Prng prng) {
    const double innovation = std::sqrt(1 - model.correlation * model.correlation);
    std::vector<double> sizes;
    sizes.reserve(frames);
    double wander = prng.bell();
    while (sizes.size() < frames) {
        const auto spread = static_cast<std::uint64_t>(model.shot_frames_max - model.shot_frames_min);
        const std::uint64_t length = static_cast<std::uint64_t>(model.shot_frames_min) + prng.below(spread + 1);
        const double level = model.level_min + (model.level_max - model.level_min) * prng.unit();
        for (std::uint64_t i = 0; i < length && sizes.size() < frames; ++i) {
            wander = model.correlation * wander + innovation * prng.bell();
            sizes.push_back(std::max(level * (1 + model.variation * wander), kRelativeMin));
        }
    }
    return sizes;
}

std::vector<double> gop_shape(const FrameSizeModel& model, std::uint64_t frames, Prng prng) {
    std::vector<double> sizes;
    sizes.reserve(frames);
    for (std::uint64_t i = 0; i < frames; ++i) {
        const char kind = model.gop[i % model.gop.size()];
        const double weight = kind == 'I' ? model.weight_i : kind == 'P' ? model.weight_p : model.weight_b;
        sizes.push_back(std::max(weight * (1 + model.variation * prng.bell()), kRelativeMin));
    }
    return sizes;
}

struct Limits {
    double floor = 0;  // bytes
    double cap = 0;
};

double total_at(const std::vector<double>& sizes, double scale, Limits limits) {
    double sum = 0;
    for (const double size : sizes) sum += std::clamp(size * scale, limits.floor, limits.cap);
    return sum;
}

/// The greatest scale with a sum below `total`. The sum only grows with the scale, also in floating point, so
/// that every way to search ends at the same one: here straight lines through the ends, with the Illinois rule
/// (Dowell and Jarratt, "A modified regula falsi method", 1971), and now and then halving.
double find_scale(const std::vector<double>& sizes, double total, Limits limits) {
    double low = 0;
    double high = limits.cap * 128;  // 1 / kRelativeMin and more: all of them are at the cap
    double below = total_at(sizes, low, limits) - total;
    double above = total_at(sizes, high, limits) - total;
    if (above < 0) return high;
    bool was_below = false;
    for (int step = 1;; ++step) {
        double middle = low + (high - low) * (below / (below - above));
        if (step % 4 == 0 || !(middle > low && middle < high)) middle = low + (high - low) / 2;
        if (middle == low || middle == high) return low;
        const double off = total_at(sizes, middle, limits) - total;
        const bool is_below = off < 0;
        (is_below ? low : high) = middle;
        (is_below ? below : above) = off;
        if (step > 1 && is_below == was_below) (is_below ? above : below) /= 2;
        was_below = is_below;
    }
}

/// Whole bytes: rounds down and gives what is left, a byte at a time, to frames below the cap.
std::vector<std::uint32_t> whole_bytes(const std::vector<double>& sizes,
                                       double scale,
                                       std::uint64_t total,
                                       Limits limits) {
    std::vector<std::uint32_t> bytes;
    bytes.reserve(sizes.size());
    std::uint64_t sum = 0;
    for (const double size : sizes) {
        bytes.push_back(static_cast<std::uint32_t>(std::clamp(size * scale, limits.floor, limits.cap)));
        sum += bytes.back();
    }
    // With a cap equal to the mean, the rounded total may need one byte more than the cap allows.
    auto cap = static_cast<std::uint32_t>(limits.cap);
    if (std::uint64_t{cap} * sizes.size() < total) ++cap;
    for (std::size_t i = 0; sum < total; i = (i + 1) % bytes.size()) {
        if (bytes[i] >= cap) continue;
        ++bytes[i];
        ++sum;
    }
    return bytes;
}

}  // namespace

std::vector<std::uint32_t> plan_frame_bytes(const MediaFormat& format,
                                            std::uint64_t frames,
                                            std::uint64_t seed,
                                            std::uint32_t clip) {
    STREAMSIM_CHECK(frames > 0, "a clip has at least one frame");
    const FrameSizeModel& model = format.size;
    if (model.kind == FrameSizeModel::Kind::constant) {
        return std::vector<std::uint32_t>(frames, static_cast<std::uint32_t>(format.mean_frame_bytes));
    }
    if (model.kind == FrameSizeModel::Kind::table) {
        std::vector<std::uint32_t> sizes(frames);
        for (std::uint64_t i = 0; i < frames; ++i) sizes[i] = model.table[i % model.table.size()];
        return sizes;
    }
    const double total = std::floor(model.mean_bytes * static_cast<double>(frames) + 0.5);
    const auto floor = static_cast<double>(std::max<std::uint64_t>(frame_bytes_min(format), 1));
    const Limits limits{floor, std::max(model.cap * model.mean_bytes, floor)};
    const bool scene = model.kind == FrameSizeModel::Kind::scene;
    const Prng prng(derive_seed(derive_seed(seed, kSizes), clip));
    const std::vector<double> sizes = scene ? scene_shape(model, frames, prng) : gop_shape(model, frames, prng);
    return whole_bytes(sizes, find_scale(sizes, total, limits), static_cast<std::uint64_t>(total), limits);
}

}  // namespace streamsim::media
