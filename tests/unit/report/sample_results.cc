#include "unit/report/sample_results.h"

#include <cmath>
#include <limits>

#include "base/units.h"
#include "judge/claims/claims.h"
#include "judge/claims/prove.h"
#include "result/miss_events.h"

namespace streamsim::samples {
namespace {

constexpr std::uint64_t kDpxBytes = 49'766'400 + 2048;

StreamResult stream(std::uint32_t seat, std::uint32_t number, const char* format, FrameRate rate) {
    StreamResult out;
    out.seat = seat;
    out.stream = number;
    out.format = format;
    out.clip = "clip" + std::to_string(number + 1);
    out.rate = rate;
    out.pattern = "filename-prefetch";
    out.counts.scheduled = out.counts.on_time = 240;
    out.counts.bytes_read = 240 * kDpxBytes;
    out.counts.passes = 1;
    out.start_delay_ns = 400'000'000 + number * 1'000'000;
    out.last_due_ns = rate.due(239).ns;
    out.required_bytes_per_s = static_cast<double>(kDpxBytes) * rate.per_second();
    out.margin_ns = {31'200'000, 32'000'000, 35'000'000, 41'000'000, 290'000'000, 333'000'000};
    out.service_ns = {12'300'000, 15'000'000, 20'100'000, 24'000'000, 30'000'000};
    out.response_ns = {13'300'000, 16'000'000, 21'100'000, 25'000'000, 31'000'000};
    out.open_ns = {90'000, 120'000, 300'000, 500'000, 900'000};
    out.buffer_frames = {3, 5, 8};
    return out;
}

/// Sums up what the streams say, as a run does.
void total_up(RunResult& result) {
    FrameCounts sum;
    for (const StreamResult& one : result.streams) {
        sum.scheduled += one.counts.scheduled;
        sum.on_time += one.counts.on_time;
        sum.late += one.counts.late;
        sum.dropped += one.counts.dropped;
        sum.failed += one.counts.failed;
        sum.cancelled += one.counts.cancelled;
        sum.startup_drops += one.counts.startup_drops;
        sum.stalls += one.counts.stalls;
        sum.stall_ns += one.counts.stall_ns;
        sum.bytes_read += one.counts.bytes_read;
        sum.passes += one.counts.passes;
        if (one.paced) result.required_bytes_per_s += one.required_bytes_per_s;
    }
    result.totals = sum;
    const double wall_s = static_cast<double>(result.wall_ns) / 1e9;
    result.read_bytes_per_s = wall_s > 0 ? static_cast<double>(sum.bytes_read) / wall_s : 0;
}

RunResult base() {
    RunResult out;
    out.version = "0.1.0";
    out.revision = "abc1234";
    out.backends = {"uring", "threads", "null", "sim"};
    out.started_at = "2024-05-01T12:00:00Z";
    out.host = {"edit-3", "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64", 8, 68'719'476'736};
    out.command = {"streamsim", "--dpx12", "--streams", "4", "/mnt/x"};
    out.seed = 42;
    out.url = "/mnt/x";
    out.backend = "local";
    out.io = "uring";
    out.direct = true;
    out.readahead = 8;
    out.inflight = 2;
    out.io_size_bytes = 1U << 20;
    out.io_depth = 8;
    out.on_miss = "drop";
    out.pattern = "filename-prefetch";
    out.order = "forward";
    out.buffer_bytes = 4 * 10 * kDpxBytes;
    out.wall_ns = 10'400'000'000;
    out.media.age_s = 86'400;
    out.client = {.cpu_percent = 34.5,
                  .cpu_ns = 3'588'000'000,
                  .helpers_cpu_ns = 0,
                  .loop_lateness_p50_ns = 31'000,
                  .loop_lateness_p99_ns = 240'000,
                  .loop_lateness_max_ns = 3'100'000,
                  .loop_stalls = 0,
                  .loop_stalled_ns = 0,
                  .page_cache_bytes = 0,
                  .loops = 1,
                  .realtime = false};
    out.digest = "00112233aabbccdd";
    return out;
}

void whole_run_latencies(RunResult& result) {
    const StreamResult& first = result.streams.front();
    result.margin_ns = first.margin_ns;
    result.service_ns = first.service_ns;
    result.response_ns = first.response_ns;
    result.open_ns = first.open_ns;
}

DropRecord drop(std::uint32_t number, std::uint64_t slot, FrameKind kind, DropReason reason) {
    DropRecord out;
    out.stream = number;
    out.frame = slot;
    out.clip_frame = slot % 48;
    out.file = "clip" + std::to_string(number + 1) + "/clip." + std::to_string(out.clip_frame) + ".dpx";
    out.due_ns = FrameRate{24, 1}.due(slot).ns;
    if (kind != FrameKind::failed) out.completed_ns = out.due_ns + 31'200'000;
    out.kind = kind;
    out.reason = reason;
    out.timecode = timecode(out.clip_frame, {24, 1});
    return out;
}

}  // namespace

RunResult plays() {
    RunResult out = base();
    for (std::uint32_t i = 0; i < 4; ++i) out.streams.push_back(stream(0, i, "dpx12", {24, 1}));
    total_up(out);
    whole_run_latencies(out);
    out.verdict = {true, "every frame was there in time", Limit::none};
    out.timeline = {{0, 1'000'000'000, 96 * kDpxBytes, 96, 0, 0, 0, 30'000'000, 3},
                    {1'000'000'000, 1'000'000'000, 96 * kDpxBytes, 96, 0, 0, 0, 24'000'000, std::nullopt}};
    out.claims = judge::claims_of(out);
    return out;
}

RunResult does_not_play() {
    RunResult out = base();
    for (std::uint32_t i = 0; i < 4; ++i) {
        StreamResult one = stream(0, i, "dpx12", {24, 1});
        one.counts.dropped = 53;
        one.counts.on_time -= 53;
        one.counts.startup_drops = 3;
        one.counts.bytes_read = 200 * kDpxBytes;
        one.counts.passes = 5;
        one.longest_drop_run = 12;
        one.margin_ns->min = -120'000'000;
        out.streams.push_back(one);
    }
    total_up(out);
    whole_run_latencies(out);
    out.reasons = {.late = 195, .client = 5};
    out.verdict = {false, "the storage did not keep up: 195 frames were missed", Limit::storage};
    out.media = {12, true, true, {}};
    out.notices = {"huge pages refused: ordinary pages are used"};
    out.drops = {drop(0, 20, FrameKind::dropped, DropReason::late),
                 drop(0, 21, FrameKind::dropped, DropReason::client),
                 drop(1, 19, FrameKind::dropped, DropReason::late)};
    out.drops[1].completed_ns.reset();
    out.drops_omitted = 209;
    out.client.loop_stalls = 1;
    out.client.loop_stalled_ns = 40'000'000;
    out.events = result::events_of_drops(out);
    return out;
}

RunResult failures() {
    RunResult out = base();
    out.streams.push_back(stream(0, 0, "dpx10", {24000, 1001}));
    FrameCounts& counts = out.streams[0].counts;
    counts.failed = 4;
    counts.on_time = 236;
    total_up(out);
    whole_run_latencies(out);
    out.reasons = {.error = 2, .short_read = 1, .missing = 1};
    out.verdict = {false,
                   "1 frame was missing and 1 frame was cut short: the media are incomplete, on any storage",
                   Limit::media};
    out.drops = {drop(0, 2, FrameKind::failed, DropReason::error),
                 drop(0, 4, FrameKind::failed, DropReason::error),
                 drop(0, 7, FrameKind::failed, DropReason::short_read),
                 drop(0, 9, FrameKind::failed, DropReason::missing)};
    out.drops[0].error = out.drops[1].error = 5;
    out.drops[3].error = 2;
    out.io = "threads";
    out.direct = false;
    out.client.page_cache_bytes = 1'200'000'000;
    out.notices = {"io_uring refused: Operation not permitted; reading with threads"};
    out.events = result::events_of_drops(out);
    return out;
}

RunResult seats_and_stalls() {
    RunResult out = base();
    for (std::uint32_t seat = 0; seat < 2; ++seat) {
        out.streams.push_back(stream(seat, 0, "dpx12", {24, 1}));
        out.streams.push_back(stream(seat, 1, "prores-hd", {30000, 1001}));
    }
    FrameCounts& stalled = out.streams[2].counts;
    stalled.stalls = 3;
    stalled.stall_ns = 1'300'000'000;
    FrameCounts& late = out.streams[3].counts;
    late.late = 2;
    late.on_time -= 2;
    total_up(out);
    whole_run_latencies(out);
    out.reasons = {.late = 2};
    out.verdict = {false, "the storage did not keep up: 3 stalls of play, 1.3 s in all", Limit::storage};
    out.on_miss = "stall";
    out.client.loops = 2;
    out.client.realtime = true;
    out.drops = {drop(1, 100, FrameKind::late, DropReason::late),
                 drop(1, 101, FrameKind::late, DropReason::late)};
    out.drops[0].seat = out.drops[1].seat = 1;
    out.events = result::events_of_drops(out);
    return out;
}

RunResult as_fast_as_it_goes() {
    RunResult out = base();
    for (std::uint32_t i = 0; i < 2; ++i) {
        StreamResult one = stream(0, i, "dpx12", {24, 1});
        one.paced = false;
        one.required_bytes_per_s = 0;
        one.margin_ns.reset();
        one.buffer_frames.reset();
        one.last_due_ns = 0;
        out.streams.push_back(one);
    }
    total_up(out);
    whole_run_latencies(out);
    out.io_size_bytes = 0;
    out.verdict = {true, "as fast as it went: nothing was required", Limit::none};
    return out;
}

RunResult interrupted() {
    RunResult out = base();
    StreamResult one = stream(0, 0, "dpx12", {24, 1});
    one.counts = {};
    one.counts.scheduled = one.counts.cancelled = 8;
    one.margin_ns.reset();
    one.service_ns.reset();
    one.response_ns.reset();
    one.open_ns.reset();
    one.buffer_frames.reset();
    out.streams.push_back(one);
    out.wall_ns = 120'000'000;
    total_up(out);
    out.interrupted = true;
    out.media.age_s.reset();
    out.client.page_cache_bytes.reset();
    out.verdict = {true, "no frame was played, so this says nothing about the storage", Limit::none};
    return out;
}

RunResult many_streams() {
    RunResult out = base();
    for (std::uint32_t i = 0; i < 100; ++i) out.streams.push_back(stream(0, i, "dpx12", {24, 1}));
    FrameCounts& bad = out.streams[97].counts;
    bad.dropped = 50;
    bad.on_time -= 50;
    total_up(out);
    whole_run_latencies(out);
    out.reasons = {.late = 50};
    out.verdict = {false, "the storage did not keep up: 50 frames were missed", Limit::storage};
    for (std::uint64_t slot = 100; slot < 150; ++slot) {
        out.drops.push_back(drop(97, slot, FrameKind::dropped, DropReason::late));
    }
    out.events = result::events_of_drops(out);
    return out;
}

RunResult modelled() {
    RunResult out = does_not_play();
    out.url = "sim:h500?nodes=2";
    out.backend = out.io = "sim";
    out.model = {.name = "h500", .title = "Four nodes", .nodes = 4, .nodes_with_seats = 2, .warm = false};
    out.media = {};
    out.notices.clear();
    out.timing_digest = "ffee";
    out.verdict = {false,
                   "the processor of seat 0 was 99 % busy when frames were missed: 200 frames were missed",
                   Limit::client_cpu};
    for (const char* name : {"seat 0 processor", "seat 0 link", "node 0 RAM"}) {
        PartResult part;
        part.stats.name = name;
        part.stats.requests = 1000;
        part.stats.busy_ns = 5'000'000'000;
        part.stats.longest_queue = 7;
        part.utilisation = 0.48076;
        part.queue_mean = 1.5;
        part.t_ns = -1'000'000'000;
        part.utilisation_per_interval = {0.25, 1.0 / 3};
        out.parts.push_back(part);
    }
    out.parts[0].utilisation_missed = 0.991;
    out.parts[1].stats.kind = PartKind::seat_link;
    out.parts[1].utilisation_missed = 0.2;
    out.parts[1].stats.bytes_per_s = 2.1e9;
    out.parts[2].stats.kind = PartKind::ram;
    out.parts[2].utilisation = 0;
    out.parts[2].utilisation_missed = 0;
    out.parts[2].stats.hits = 30;
    out.parts[2].stats.misses = 10;
    out.events = result::events_of_drops(out);
    return out;
}

RunResult told_in_full() {
    RunResult out = does_not_play();
    out.claims = plays().claims;
    out.claims->prove = judge::ProveTest(1).result();
    out.url = "/mnt/media/show";
    out.mount = {"/mnt/media",
                 "filer:/export/media",
                 "nfs4",
                 "rw,vers=4.2,rsize=1048576,hard,proto=tcp",
                 "filer",
                 "NFSv4.2",
                 1,
                 1U << 20,
                 131072,
                 {"nconnect=1: one connection seldom fills a link"}};
    out.servers = {{"10.0.0.1", "NFSv3", {0, 1, 2, 5}, 4, 1U << 20, 12345, 27.5, 38'000'000'000, 1, 3, 250'000},
                   {"10.0.0.2", "NFSv3", {3, 4}, 4, 1U << 20, 345, 27.5, 38'000'000, 0, 0, std::nullopt}};
    out.links = {{"eth0", 10'000'000'000, 38'000'000'000, 200'000'000, 41.2, 97.5, 320'000, 180'000, 12},
                 {"wlan0", std::nullopt, 4096, 0, 0, 0, 0, 0, 0}};
    out.system = {1'250'000'000, 61.5, 3.2, 44.1, std::nullopt, 0.4};
    out.probes = {{"as played", 2, 1U << 20, 8, 2.1e9}, {"more in flight", 8, 1U << 20, 32, 3.4e9}};
    out.causes = {
        {Cause::too_little_in_flight, Limit::storage, 190, 0, "the player asked for too little at once",
         "more in flight would help: at depth 2 the link is 41 % busy, at depth 8 it gave 3.4 GB/s"},
        {Cause::slow_reads, Limit::storage, 22, 0, "some reads took long", "the slowest took 30 ms"}};
    out.verdict.detail = out.causes[0].detail;
    out.verdict.next = "play again with --inflight 8";
    out.places = {PlaceTest::Answer::random, 48, 2};
    out.drops[0].cause = Cause::too_little_in_flight;
    for (StreamResult& one : out.streams) {
        one.series.interval_ns = 500'000'000;
        for (std::uint32_t i = 0; i < 20; ++i) {
            const bool bad = i % 7 == one.stream;
            one.series.points.push_back({bad ? -120'000'000 : 31'200'000 + 1'000'000 * std::int64_t{i},
                                         bad ? 0 : 3 + i % 5, bad ? 13U : 0U});
        }
        one.series.points[5] = {};  // nothing was due
    }
    out.timeline = {
        {-400'000'000, 400'000'000, 32 * kDpxBytes, 0, 0, 0, 0, 30'000'000, std::nullopt, std::nullopt}};
    for (std::int64_t s = 0; s < 10; ++s) {
        const std::uint64_t lost = s == 3 ? 53 : s == 7 ? 159 : 0;
        out.timeline.push_back({s * 1'000'000'000, 1'000'000'000, (96 - lost / 2) * kDpxBytes, 96, lost, 0, 0,
                                30'000'000, 3, lost > 0 ? -120'000'000 : 31'200'000});
    }
    out.margin_bins = {{-200'000'000, -100'000'000, 3},
                       {-100'000'000, 0, 40},
                       {0, 100'000'000, 500},
                       {100'000'000, 200'000'000, 0},
                       {200'000'000, 300'000'000, 205}};
    out.events = result::events_of_drops(out);
    for (MissEvent& event : out.events) {
        event.evidence.read_bytes_per_s = 1'200'000'000;
        event.evidence.no_data_ns = 520'000'000;
        event.evidence.service_ns_max = 540'000'000;
        event.evidence.link_busy = 0.41;
        event.evidence.rtt_ns = 250'000;
        event.evidence.lost_segments = 3;
        event.evidence.cpu_busy = 0.12;
        event.evidence.run_queue_wait_ns = 4'000'000;
    }
    return out;
}

RunResult hostile() {
    RunResult out = failures();
    out.url = "/mnt/\x1b[2Jx\n";
    out.streams[0].clip = "a \"clip\", \xff\xfe";
    out.host.name = "</script><script>alert(1)</script>";
    out.streams[0].format = "<img src=x onerror=alert(1)>";
    out.command = {"streamsim", "it's <b>&amp;</b>", "\xe2\x80\xae\xc2\x9b"};
    out.drops[0].file = "line\r\nbreak,\"quoted\".dpx";
    out.read_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
    out.required_bytes_per_s = std::numeric_limits<double>::infinity();
    out.events = result::events_of_drops(out);
    return out;
}

RunResult several_computers() {
    RunResult result = seats_and_stalls();
    result.run_id = "1f0c";
    result.ranks = 3;
    SeatResult first;
    first.seats = {0};
    first.host = result.host;
    first.started_at = result.started_at;
    first.node = "10.0.0.1";
    first.verdict = {true, "every frame was there in time", Limit::none};
    first.totals = result.streams.front().counts;
    first.margin_ns = result.streams.front().margin_ns;
    first.clock_offset_after_ns = 5;
    first.clock_bound_after_ns = 20'000;
    first.start_ns = 250'000;
    first.played_ns = 60'000'000'000;
    first.client = result.client;
    first.links = {{"eth0", 10'000'000'000, 5, 4, 41.5, 99.25, 200'000, 90'000, 3}};
    first.mount =
        MountFacts{"/mnt/x", "server:/export", "nfs4", "rw", "server", "NFSv4.1", {}, {}, {}, {}, "/mnt/x"};
    first.journal = "/tmp/seat-0-1f0c.json";
    SeatResult second = first;
    second.rank = 1;
    second.seats = {1};
    second.host.name = "h1";
    second.state = SeatResult::State::partial;
    second.why = "its journal ends after 12 s of play";
    second.verdict = result.verdict;
    second.totals = result.streams.back().counts;
    second.clock_offset_ns = -1'500'000;
    second.clock_bound_ns = 40'000;
    SeatResult third;
    third.rank = 2;
    third.state = SeatResult::State::missing;
    third.why = "there is no result and no journal of it";
    third.verdict.reason = third.why;
    result.seats = {first, second, third};
    StreamHistograms histograms;
    histograms.margin_ns = {-5, 9, {{-5, 2}, {8, 3}}};
    histograms.preroll_margin_ns = histograms.service_ns = histograms.response_ns = {1, 4, {{1, 1}, {4, 7}}};
    histograms.buffer_frames = {0, 8, {{0, 1}, {8, 4}}};
    result.histograms = histograms;
    for (StreamResult& stream : result.streams) stream.histograms = histograms;
    return result;
}

}  // namespace streamsim::samples
