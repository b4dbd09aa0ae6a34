#include "unit/report/sample_view.h"

#include <fmt/format.h>

#include <utility>

#include "base/units.h"

namespace streamsim::samples {

view::ViewState live_view(std::size_t streams) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    view::ViewState out;
    out.title = counted(streams, "stream") + " of dpx12 at 24 fps from /mnt/isilon";
    out.elapsed_ns = 61 * kSecond;
    out.total_ns = 120 * kSecond;
    out.required_bytes_per_s = 1.2e9 * static_cast<double>(streams);
    out.bytes_per_s = out.required_bytes_per_s * 0.98;
    out.keys = true;
    for (std::size_t i = 0; i < streams; ++i) {
        view::StreamView stream;
        stream.label = fmt::format("{} dpx12", i);
        stream.short_label = std::to_string(i);
        stream.clip = fmt::format("/mnt/isilon/shot-{:04}", i);
        stream.state = StreamState::playing;
        stream.frames_total = 2880;
        stream.period_ns = 41'666'666;
        stream.rate = {24, 1};
        stream.readahead = 8;
        stream.due = 1464;
        stream.on_time = 1464;
        stream.buffered = 8;
        stream.bytes = std::uint64_t{73} * 1'000'000'000;
        stream.margin_min_ns = 31'200'000;
        stream.margin_lately_ns = 33'000'000;
        if (i == 1) stream.margin_lately_ns = stream.margin_min_ns = 4'000'000;
        const auto miss = [&stream](std::int64_t at_ns, std::uint64_t slot) {
            stream.misses.insert(stream.misses.begin(),
                                 Miss{at_ns, slot, FrameKind::dropped, DropReason::late, false, slot});
            ++stream.bad;
            --stream.on_time;
            stream.margin_min_ns = -8'000'000;
        };
        if (i % 7 == 3 || streams == 1) {  // an event of long ago
            for (std::int64_t k = 0; k < 3; ++k)
                miss(20 * kSecond + k * stream.period_ns, 480 + static_cast<std::uint64_t>(k));
        }
        if (i % 50 == 5) {  // one that goes on
            stream.buffered = 0;
            stream.margin_lately_ns = -8'000'000;
            miss(60 * kSecond, 1440);
        }
        out.streams.push_back(std::move(stream));
    }
    view::LiveHistory history;
    view::ViewState past = out;
    for (std::int64_t second = 1; second <= 61; ++second) {
        past.bytes_per_s = second == 20 ? out.bytes_per_s / 3 : out.bytes_per_s;
        past.streams[0].margin_lately_ns = second == 20 ? -8'000'000 : 200'000'000 - second * 2'000'000;
        for (std::size_t i = 1; i < past.streams.size(); ++i) past.streams[i].margin_lately_ns.reset();
        history.note(second * kSecond, past);
    }
    out.history = past.history;
    out.history_step_ns = past.history_step_ns;
    out.events = past.events;
    return out;
}

}  // namespace streamsim::samples
