// Players on a modelled cluster: so many streams a seat from beginning to end, and what became of them.
#pragma once

#include <fmt/format.h>

#include "play/ledger.h"
#include "play/player.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {

struct PlayedCluster {
    std::uint64_t on_time = 0;
    std::uint64_t dropped = 0;
    std::vector<std::string> timing;   // digests of the streams
    std::vector<std::uint64_t> drops;  // likewise
    std::vector<std::int64_t> least_margin_ns;
    std::vector<std::int64_t> median_margin_ns;
    std::vector<PartStats> stats;
};

struct Show {
    std::uint32_t streams = 1;  // a seat
    std::uint64_t slots = 240;
    std::uint64_t frame_bytes = 1'170'000;
    std::uint64_t clip_frames = 120;
    bool files = false;
    Duration decode;
    play::OnMiss on_miss = play::OnMiss::drop;
};

/// Plays until the end; seats as the options say.
class Theatre {
public:
    Theatre(sim::ClusterOptions options, const Show& show) : show_(show) {
        if (options.seats.empty()) options.seats.emplace_back();
        const auto seats = static_cast<std::uint32_t>(options.seats.size());
        std::vector<std::shared_ptr<const PlainMedia>> media;
        for (std::uint32_t i = 0; i < seats * show.streams; ++i) {
            media.push_back(std::make_shared<PlainMedia>(fmt::format("m/clip{}", i), show.clip_frames,
                                                         show.frame_bytes, show.files));
            options.media.emplace_back(media.back());
        }
        cluster_ = std::make_unique<sim::Cluster>(loop_, std::move(options));
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
            const auto margins = stream.ledger->times().margin_summary();
            result.least_margin_ns.push_back(margins ? margins->min : 0);
            result.median_margin_ns.push_back(margins ? margins->p50 : 0);
            result.timing.push_back(stream.ledger->timing_digest().hex());
        }
        result.stats = cluster_->stats(Instant{}, loop_.now());
        return result;
    }

private:
    struct Stream {
        std::shared_ptr<const play::PlayPath> path;
        std::unique_ptr<play::DeadlineLedger> ledger;
        std::unique_ptr<StreamProgress> progress;
        std::unique_ptr<Decoder> decoder;
        std::unique_ptr<play::Player> player;
    };

    void add(const std::shared_ptr<const FrameIndex>& media, std::uint32_t seat, std::uint32_t number) {
        Stream& stream = streams_.emplace_back();
        stream.path = play::make_path({media}, {}, std::nullopt, 1);
        play::PlayerOptions options;
        options.seat = seat;
        options.stream = number;
        options.slots = show_.slots;
        options.on_miss = show_.on_miss;
        options.pattern = show_.files ? play::AccessPattern::filename_prefetch : play::AccessPattern::streaming;
        play::LedgerOptions stats;
        stats.seat = seat;
        stats.stream = number;
        stats.slots = show_.slots;
        stats.readahead = options.readahead;
        stream.ledger = std::make_unique<play::DeadlineLedger>(stats, series_);
        if (show_.decode > Duration{}) {
            stream.decoder = cluster_->make_decoder(seat, nullptr, show_.decode);
            options.decoder = stream.decoder.get();
        }
        stream.progress = std::make_unique<StreamProgress>();
        // Nothing is ever written there: all have the same memory.
        memory_.resize(
            std::max<std::size_t>(memory_.size(), play::Player::memory_bytes(*stream.path, options)));
        const std::span<std::byte> memory{memory_.data(), play::Player::memory_bytes(*stream.path, options)};
        const play::StreamParts parts{loop_,
                                      *storage_,
                                      *stream.path,
                                      options,
                                      *stream.ledger,
                                      *stream.progress,
                                      Callback::of<&Theatre::changed>(this)};
        stream.player = std::make_unique<play::Player>(parts, memory);
    }

    void changed() {
        bool all_ready = true;
        bool all_finished = true;
        for (auto& stream : streams_) {
            all_ready = all_ready && stream.player->ready();
            all_finished = all_finished && stream.player->finished();
        }
        if (all_finished) {
            storage_->shutdown(Callback::of<&loop::VirtualLoop::stop>(&loop_));
        } else if (all_ready && !playing_) {
            playing_ = true;
            for (auto& stream : streams_) stream.player->play(loop_.now(), loop_.now());
        }
    }

    const Show show_;
    loop::VirtualLoop loop_;
    std::unique_ptr<sim::Cluster> cluster_;
    std::unique_ptr<Storage> storage_;
    metrics::TimeSeries series_;
    std::vector<std::byte> memory_;
    std::deque<Stream> streams_;
    bool playing_ = false;
};

inline PlayedCluster play(const sim::ClusterOptions& options, const Show& show) {
    Theatre theatre(options, show);
    return theatre.play();
}
}  // namespace streamsim::test
