// The player on a modelled cluster: the same seed gives the same times, and it is fast.
#include <fmt/format.h>

#include <ctime>

#include "base/prng.h"
#include "play/ledger.h"
#include "play/player.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

struct PlayedCluster {
    std::uint64_t on_time = 0;
    std::uint64_t dropped = 0;
    std::vector<std::string> timing;   // digests of the streams
    std::vector<std::uint64_t> drops;  // likewise
    std::vector<PartBooks> books;
};

struct Show {
    std::uint32_t streams = 1;  // a seat
    std::uint64_t slots = 240;
    std::uint64_t frame_bytes = 1'170'000;
    std::uint64_t clip_frames = 120;
    bool files = false;
    Duration decode;
};

/// A small cluster in which every part takes its time: four nodes, flash with a tail.
ClusterModel busy_model() {
    ClusterModel model;
    model.name = "busy";
    model.nodes = 4;
    model.node.front_end = {40e9, 0.94, microseconds(20)};
    model.node.back_end = {40e9, 0.94, microseconds(5)};
    model.node.cores = 8;
    model.node.cpu_s_per_open = 100e-6;
    model.node.cpu_s_per_request = 20e-6;
    model.node.cpu_s_per_byte = 0.5e-9;
    model.node.ram_bytes = 512 * kMiB;
    model.node.drives = 15;
    model.node.response = {microseconds(100), 0.2, 0.001, milliseconds(5)};
    model.drive.kind = DriveModel::Kind::flash;
    model.drive.outer_bytes_per_s = 100e6;
    model.drive.channels = 4;
    model.drive.access = {microseconds(150), 0.3, 0.01, milliseconds(2)};
    model.strategy = {4 * kMiB, 16 * kMiB, 4};
    model.client.cores = 32;
    model.client.cpu_ceiling = 0.85;
    model.client.cpu_s_per_request = 10e-6;
    model.client.cpu_s_per_byte = 0.3e-9;
    model.client.link = {40e9, 0.94, microseconds(50)};
    model.client.connections = 4;
    model.client.connection_bytes_per_s = 2e9;
    return model;
}

/// Plays until the end; seats as the options say.
class Theatre {
public:
    Theatre(ClusterOptions options, const Show& show) : show_(show) {
        if (options.seats.empty()) options.seats.emplace_back();
        const auto seats = static_cast<std::uint32_t>(options.seats.size());
        std::vector<std::shared_ptr<const PlainMedia>> media;
        for (std::uint32_t i = 0; i < seats * show.streams; ++i) {
            media.push_back(std::make_shared<PlainMedia>(fmt::format("m/clip{}", i), show.clip_frames,
                                                         show.frame_bytes, show.files));
            options.media.push_back(media.back());
        }
        cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
        storage_ = cluster_->make_storage();
        for (std::uint32_t i = 0; i < media.size(); ++i) add(media[i], i / show.streams, i % show.streams);
    }

    PlayedCluster play() {
        for (auto& stream : streams_) stream.player->preroll();
        EXPECT_EQ(loop_.run(), StopReason::stopped);
        PlayedCluster result;
        for (auto& stream : streams_) {
            stream.ledger->close();
            result.on_time += stream.ledger->counts().on_time;
            result.dropped += stream.ledger->counts().dropped;
            result.drops.push_back(stream.ledger->counts().dropped);
            result.timing.push_back(stream.ledger->timing_digest().hex());
        }
        result.books = cluster_->books(Instant{}, loop_.now());
        return result;
    }

private:
    struct Stream {
        std::shared_ptr<const PlayPath> path;
        std::unique_ptr<DeadlineLedger> ledger;
        std::unique_ptr<StreamProgress> progress;
        std::unique_ptr<Decoder> decoder;
        std::unique_ptr<Player> player;
    };

    void add(const std::shared_ptr<const FrameIndex>& media, std::uint32_t seat, std::uint32_t number) {
        Stream& stream = streams_.emplace_back();
        stream.path = make_path({media}, {}, std::nullopt, 1);
        PlayerOptions options;
        options.seat = seat;
        options.stream = number;
        options.slots = show_.slots;
        options.pattern = show_.files ? AccessPattern::filename_prefetch : AccessPattern::streaming;
        LedgerOptions books;
        books.seat = seat;
        books.stream = number;
        books.slots = show_.slots;
        books.readahead = options.readahead;
        stream.ledger = std::make_unique<DeadlineLedger>(books, series_);
        if (show_.decode > Duration{}) {
            stream.decoder = cluster_->make_decoder(seat, nullptr, show_.decode);
            options.decoder = stream.decoder.get();
        }
        stream.progress = std::make_unique<StreamProgress>();
        // Nothing is ever written there: all have the same memory.
        memory_.resize(std::max<std::size_t>(memory_.size(), Player::memory_bytes(*stream.path, options)));
        const std::span<std::byte> memory{memory_.data(), Player::memory_bytes(*stream.path, options)};
        stream.player =
            std::make_unique<Player>(loop_, *storage_, *stream.path, options, *stream.ledger, memory,
                                     *stream.progress, Callback::of<&Theatre::changed>(this));
    }

    void changed() {
        bool all_ready = true;
        bool all_finished = true;
        for (auto& stream : streams_) {
            all_ready = all_ready && stream.player->ready();
            all_finished = all_finished && stream.player->finished();
        }
        if (all_finished) {
            storage_->shutdown(Callback::of<&VirtualLoop::stop>(&loop_));
        } else if (all_ready && !playing_) {
            playing_ = true;
            for (auto& stream : streams_) stream.player->play(loop_.now(), loop_.now());
        }
    }

    const Show show_;
    VirtualLoop loop_;
    std::unique_ptr<Cluster> cluster_;
    std::unique_ptr<Storage> storage_;
    TimeSeries series_;
    std::vector<std::byte> memory_;
    std::deque<Stream> streams_;
    bool playing_ = false;
};

PlayedCluster play(const ClusterOptions& options, const Show& show) {
    Theatre theatre(options, show);
    return theatre.play();
}

ClusterOptions busy(std::uint64_t seed, std::uint32_t seats) {
    ClusterOptions options;
    options.model = busy_model();
    options.seed = seed;
    for (std::uint32_t i = 0; i < seats; ++i) options.seats.push_back({i % 4, {}});
    return options;
}

TEST(PlayerOnCluster, TheSameSeedGivesTheSameTimes) {
    for (const bool files : {false, true}) {
        const Show show{.streams = 5, .files = files, .decode = milliseconds(20)};
        const PlayedCluster once = play(busy(1, 3), show);
        const PlayedCluster again = play(busy(1, 3), show);
        const PlayedCluster other = play(busy(2, 3), show);
        EXPECT_EQ(once.timing, again.timing);
        EXPECT_NE(once.timing, other.timing);
        EXPECT_EQ(once.on_time, 3u * 5 * 240);
    }
}

TEST(PlayerOnCluster, ReadingAheadIsWhatAClusterOfSlowDrivesPlaysWith) {
    ClusterOptions options = busy(1, 1);
    options.model.drive.access.median = milliseconds(60);  // a block comes later than the next frame is due
    const Show show{.streams = 1, .slots = 480, .frame_bytes = 10'000'000, .files = true};
    const PlayedCluster with = play(options, show);
    options.strategy = AccessStrategy::random;
    const PlayedCluster without = play(options, show);
    EXPECT_EQ(with.dropped, 0u);
    EXPECT_GT(without.dropped, 0u);
    EXPECT_GT(part(with.books, "node 0 RAM").hits, 9 * part(without.books, "node 0 RAM").hits);
}

TEST(PlayerOnCluster, AProcessorThatIsFullDropsFramesAndItsBooksSaySo) {
    // A core of 27.2 has 27.2 s in a second: 24 fps * 40 streams * 20 ms is 19.2; 60 streams are 28.8.
    const PlayedCluster fits =
        play(busy(1, 1), {.streams = 40, .frame_bytes = 10'000, .decode = milliseconds(20)});
    const PlayedCluster not_quite =
        play(busy(1, 1), {.streams = 60, .frame_bytes = 10'000, .decode = milliseconds(20)});
    EXPECT_EQ(fits.dropped, 0u);
    EXPECT_GT(not_quite.dropped, 0u);
    const std::vector<std::int64_t> busy_per_s = part(not_quite.books, "seat 0 processor").busy_per_s;
    ASSERT_GE(busy_per_s.size(), 10u);
    EXPECT_GT(busy_per_s[5], 990'000'000);
    EXPECT_LT(part(fits.books, "seat 0 processor").busy_per_s[5], 800'000'000);
}

/// A cluster that is about full: 12 streams on a link of so much.
ClusterOptions nearly_full(std::uint64_t seed) {
    ClusterOptions options = busy(seed, 1);
    Prng prng(seed);
    options.model.client.link.bits_per_s = 2.3e9 + 0.7e9 * prng.unit();
    options.model.client.connection_bytes_per_s = 0;
    return options;
}

// The noise: a few frames a stream, as a jump over what is late comes earlier or later.
constexpr std::uint64_t kNoise = 3;

TEST(PlayerOnCluster, AFasterPartDropsNoMoreFrames) {
    const Show show{.streams = 12, .decode = milliseconds(20)};
    std::uint64_t all = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        ClusterOptions options = nearly_full(seed);
        const std::uint64_t before = play(options, show).dropped;
        all += before;
        switch (seed % 4) {
            case 0: options.model.client.link.bits_per_s *= 1.1; break;
            case 1: options.model.client.cores *= 2; break;
            case 2: options.model.drive.access.tail_share = 0; break;
            default: options.model.node.front_end.bits_per_s *= 2; break;
        }
        EXPECT_LE(play(options, show).dropped, before + kNoise * show.streams) << "seed " << seed;
    }
    EXPECT_GT(all, 1000u) << "the clusters are to be full";
}

TEST(PlayerOnCluster, OneMoreStreamHelpsNoOther) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const ClusterOptions options = nearly_full(seed);
        const Show show{.streams = 11, .decode = milliseconds(20)};
        Show more = show;
        ++more.streams;
        const PlayedCluster few = play(options, show);
        const PlayedCluster many = play(options, more);
        for (std::size_t i = 0; i < few.drops.size(); ++i) {
            EXPECT_GE(many.drops[i] + kNoise, few.drops[i]) << "seed " << seed << ", stream " << i;
        }
    }
}

// Not a limit that a loaded machine keeps: says what it is. Run with --gtest_also_run_disabled_tests.
TEST(PlayerOnCluster, DISABLED_FramesASecond) {
    for (const std::uint32_t seats : {1u, 4u, 16u, 100u}) {
        const Show show{
            .streams = 8, .slots = 2'000'000 / (8 * seats), .clip_frames = 300, .decode = milliseconds(20)};
        ClusterOptions options = busy(1, seats);
        options.model.node.front_end.bits_per_s *= 10;
        options.model.node.cores *= 10;
        options.model.drive.channels *= 10;
        options.model.node.back_end.bits_per_s *= 10;
        const std::clock_t begin = std::clock();
        const PlayedCluster played = play(options, show);
        const double s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        fmt::print("{} seats x 8: {:.0f} frames/s of processor time, {} dropped\n", seats,
                   static_cast<double>(show.slots * 8 * seats) / s, played.dropped);
    }
}

}  // namespace
}  // namespace streamsim::test
