// Laws of what plays, searched over clusters by chance that are about full.
#include <algorithm>
#include <functional>
#include <tuple>

#include "address_sanitizer.h"
#include "sim/random_cluster.h"
#include "sim/theatre.h"

namespace streamsim::test {
namespace {

/// A cluster by chance and frames of a size with which its narrowest part plays some streams a seat.
struct Stage {
    sim::ClusterOptions options;
    Show show;

    explicit Stage(std::uint64_t seed) {
        Prng prng(seed);
        options = random_cluster(prng);
        ClusterModel& model = options.model;
        model.node.ram_bytes += 64 << 20;
        if (options.seats.size() > 3) options.seats.resize(3);
        model.strategy.streaming_bytes = prng.below(2) * (16 << 20);
        show.slots = 96;
        show.clip_frames = 96;
        show.files = prng.below(3) == 0;
        const double streams = between(prng, 2, 6);
        const double rate = narrowest() / streams / 24;
        show.frame_bytes = static_cast<std::uint64_t>(std::clamp(rate, 50e3, 3e6));
        if (prng.below(3) == 0) {  // decoding fills the processor first
            const double cores = model.client.cores * model.client.cpu_ceiling;
            show.decode = nanoseconds(static_cast<std::int64_t>(cores / streams / 24 * 1e9));
        }
    }

    /// Bytes a second for a seat, as its parts say one by one.
    double narrowest() const {
        const ClusterModel& model = options.model;
        const auto seats = static_cast<double>(options.seats.size());
        const double drive = model.drive.kind == DriveModel::Kind::flash
                                 ? model.drive.outer_bytes_per_s * model.drive.channels
                                 : model.drive.outer_bytes_per_s / 4;
        const double drives = drive * model.nodes * model.node.drives;
        double rate = std::min(model.client.link.bytes_per_s(), model.node.front_end.bytes_per_s() / seats);
        rate = std::min({rate, drives / seats, model.node.back_end.bytes_per_s() / seats});
        if (model.network.port_bits_per_s > 0) rate = std::min(rate, model.network.port_bits_per_s / 8);
        if (model.client.connection_bytes_per_s > 0) {
            rate = std::min(rate, model.client.connection_bytes_per_s * model.client.connections);
        }
        const double cpu = model.node.cpu_s_per_byte + model.strategy.streaming_cpu_s_per_byte;
        if (cpu > 0) rate = std::min(rate, model.node.cores / cpu / seats);
        return rate;
    }

    /// So many streams a seat.
    PlayedCluster play(std::uint32_t streams) const {
        Show with = show;
        with.streams = streams;
        return test::play(options, with);
    }

    /// The largest number a seat that plays, and every smaller one does; of `most` no more is asked.
    std::uint32_t limit(std::uint32_t most) const {
        std::uint32_t streams = 0;
        while (streams < most && play(streams + 1).dropped == 0) ++streams;
        return streams;
    }
};

struct Part {
    const char* name;
    void (*faster)(ClusterModel&);
};

const Part kParts[] = {
    {"client link", [](ClusterModel& model) { model.client.link.bits_per_s *= 2; }},
    {"client link latency", [](ClusterModel& model) { model.client.link.latency = {}; }},
    {"connections", [](ClusterModel& model) { model.client.connection_bytes_per_s *= 2; }},
    {"client processor", [](ClusterModel& model) { model.client.cores *= 2; }},
    {"switch port", [](ClusterModel& model) { model.network.port_bits_per_s *= 2; }},
    {"front end", [](ClusterModel& model) { model.node.front_end.bits_per_s *= 2; }},
    {"back end", [](ClusterModel& model) { model.node.back_end.bits_per_s *= 2; }},
    {"node processor", [](ClusterModel& model) { model.node.cores *= 2; }},
    {"coordinator", [](ClusterModel& model) { model.file_bytes_per_s *= 2; }},
    {"drives",
     [](ClusterModel& model) {
         model.drive.outer_bytes_per_s *= 2;
         model.drive.inner_bytes_per_s *= 2;
         model.drive.rotations_per_s *= 2;
         model.drive.seek_track = {model.drive.seek_track.ns / 2};
         model.drive.seek_full = {model.drive.seek_full.ns / 2};
     }},
    {"RAM", [](ClusterModel& model) { model.node.ram_bytes *= 2; }},
    {"SSD", [](ClusterModel& model) { model.node.ssd.bits_per_s *= 2; }},
    {"tail of the drives", [](ClusterModel& model) { model.drive.access.tail_share = 0; }},
    {"response", [](ClusterModel& model) { model.node.response = {}; }},
};

constexpr std::uint32_t kStreamsPerSeatMax = 8;

constexpr std::uint64_t kSeeds = kAddressSanitizer ? 4 : 12;  // a play takes ten times as long

class PlayLaws : public testing::TestWithParam<std::tuple<std::uint64_t, play::OnMiss>> {
protected:
    PlayLaws() { stage_.show.on_miss = std::get<play::OnMiss>(GetParam()); }

    /// Compares the frames dropped by the same streams, with fewer others (`before`) and with more (`after`).
    void compare(std::vector<std::uint64_t>& before, std::vector<std::uint64_t>& after) const {
        const auto slots = static_cast<double>(stage_.show.slots);
        const double count = static_cast<double>(before.size());
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        double all_before = 0;
        double all_after = 0;
        for (std::size_t rank = 0; rank < before.size(); ++rank) {
            all_before += static_cast<double>(before[rank]);
            all_after += static_cast<double>(after[rank]);
            EXPECT_GE(static_cast<double>(after[rank]) + kRankNoise * slots, static_cast<double>(before[rank]))
                << "rank " << rank;
        }
        EXPECT_GE(all_after + kSumNoise * slots * count, all_before);
    }

    static constexpr double kRankNoise = 0.125;  // of a stream's slots
    static constexpr double kSumNoise = 0.05;    // of the slots of all

    Stage stage_{std::get<std::uint64_t>(GetParam())};
};

/// Exact, without a noise: it is about whole streams. The exception is a port without flow control, at which
/// what comes faster loses more (sim/switch_port.h): of clusters with one some play fewer, of these seeds none.
TEST_P(PlayLaws, AFasterPartNeverPlaysFewerStreams) {
    const std::uint32_t limit = stage_.limit(kStreamsPerSeatMax);
    for (const Part& part : kParts) {
        Stage faster = stage_;
        part.faster(faster.options.model);
        EXPECT_EQ(faster.limit(limit), limit) << part.name;
    }
}

/// The streams that were already on the cluster, when each seat gets one stream more.
///
/// While all plays there is no drop to compare, and the margins say what became of the others. The noise: a
/// margin is a matter of who comes first at a drive and at a link, and a stream more changes that; three
/// quarters of a frame's time, where 0.5 was the most that 60 clusters showed.
///
/// A number of streams that does not play does not play with more streams either: without a noise.
///
/// At an overfull part, the phase decides which stream drops its frames (a stream that came too late once comes
/// too late again), and one more stream may make another the victim: a stream's own drops fell by up to 76 of
/// 96. So the streams that were there are compared by rank, the worst with the worst, and all together. The
/// noise: 12 frames of 96 (10 were the most that 40 clusters showed), and of all together 5 in a hundred slots
/// (2).
TEST_P(PlayLaws, OneMoreStreamMakesNoOthersRecordBetterBeyondTheNoise) {
    constexpr std::int64_t kMarginNoiseNs = 1'000'000'000 / 24 * 3 / 4;
    const std::uint32_t limit = stage_.limit(kStreamsPerSeatMax);
    PlayedCluster few = stage_.play(1);
    for (std::uint32_t streams = 1; streams < limit + 3; ++streams) {
        SCOPED_TRACE(fmt::format("{} streams a seat and one more, {} play", streams, limit));
        const PlayedCluster many = stage_.play(streams + 1);
        if (streams + 1 > limit && limit < kStreamsPerSeatMax) {
            EXPECT_GT(many.dropped, 0u);
        }
        std::vector<std::uint64_t> before = few.drops;
        std::vector<std::uint64_t> after;
        for (std::size_t i = 0; i < few.drops.size(); ++i) {
            const std::size_t same = i / streams * (streams + 1) + i % streams;
            after.push_back(many.drops[same]);
            if (many.dropped > 0) continue;
            EXPECT_LE(many.least_margin_ns[same], few.least_margin_ns[i] + kMarginNoiseNs);
            EXPECT_LE(many.median_margin_ns[same], few.median_margin_ns[i] + kMarginNoiseNs);
        }
        compare(before, after);
        few = many;
    }
}

auto seeds(std::uint64_t first, std::uint64_t end, play::OnMiss on_miss) {
    return testing::Combine(testing::Range(first, end), testing::Values(on_miss));
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlayLaws, seeds(0, kSeeds, play::OnMiss::drop));
INSTANTIATE_TEST_SUITE_P(MoreSeeds, PlayLaws, seeds(kSeeds, 2 * kSeeds, play::OnMiss::drop));
INSTANTIATE_TEST_SUITE_P(SkipSeeds, PlayLaws, seeds(0, kSeeds / 3, play::OnMiss::skip));

/// More streams than the cluster plays, under both policies: skip asks for the frames that can be in time, so
/// that all streams together lose no more frames than under drop; mostly half as many. The noise: 5 in a
/// hundred slots, as above (4.4 were the most; drop lets some streams lose all frames and others none).
class SkipLaws : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SkipLaws, SkipLosesNoMoreThanDropBeyondTheNoise) {
    Stage stage(GetParam());
    const std::uint32_t limit = stage.limit(kStreamsPerSeatMax);
    for (std::uint32_t streams = limit + 1; streams <= limit + 3; ++streams) {
        stage.show.on_miss = play::OnMiss::drop;
        const PlayedCluster drop = stage.play(streams);
        stage.show.on_miss = play::OnMiss::skip;
        const PlayedCluster skip = stage.play(streams);
        const std::uint64_t slots = drop.on_time + drop.dropped;
        EXPECT_EQ(skip.on_time + skip.dropped, slots);
        EXPECT_LE(skip.dropped, drop.dropped + slots / 20) << streams << " streams a seat";
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SkipLaws, testing::Range<std::uint64_t>(0, kSeeds));

}  // namespace
}  // namespace streamsim::test
