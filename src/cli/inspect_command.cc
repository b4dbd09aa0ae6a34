#include <fmt/format.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "media/clip_index.h"
#include "media/inspect.h"

namespace streamsim {
namespace {

OrderedJson document_of(const Clip& clip, const InspectFacts& facts, bool frames) {
    OrderedJson document = {{"schema", "streamsim.inspect"},
                            {"version", 1},
                            {"clip", clip.name},
                            {"format", clip.format},
                            {"frames", facts.frames},
                            {"rate", {facts.rate.num, facts.rate.den}},
                            {"duration_ns", facts.duration.ns},
                            {"timecode", facts.timecode},
                            {"bytes", facts.bytes_total},
                            {"frame_bytes",
                             {{"min", facts.frame_bytes_min},
                              {"mean", facts.frame_bytes_mean},
                              {"p99", facts.frame_bytes_p99},
                              {"max", facts.frame_bytes_max}}},
                            {"required_bytes_per_s", facts.bytes_per_s},
                            {"layout", facts.layout},
                            {"notes", facts.notes}};
    if (!frames) return document;
    OrderedJson& list = document["extents"] = OrderedJson::array();
    std::string path(clip.index->path_capacity(), '\0');
    for (std::uint64_t i = 0; i < clip.index->count(); ++i) {
        const Extent extent = clip.index->extent(i);
        clip.index->write_path(i, path.data());
        list.push_back({{"frame", i},
                        {"number", clip.index->frame_number(i)},
                        {"file", path.c_str()},
                        {"offset", extent.offset},
                        {"bytes", extent.bytes}});
    }
    return document;
}

void print_clip(const Clip& clip, const InspectFacts& facts, bool frames) {
    fmt::print("{}: {}\n", clip.name, clip.format);
    fmt::print("  frames      {} at {} fps, {} ({})\n", show_count(facts.frames), facts.rate.to_string(),
               facts.timecode, show_duration(facts.duration));
    fmt::print("  a frame     min {}, mean {}, p99 {}, max {} bytes\n", show_count(facts.frame_bytes_min),
               show_count(nearest_whole(facts.frame_bytes_mean)), show_count(facts.frame_bytes_p99),
               show_count(facts.frame_bytes_max));
    fmt::print("  needs       {:.1f} MB/s, {:.0f} Mb/s\n", facts.bytes_per_s / 1e6,
               facts.bytes_per_s * 8 / 1e6);
    fmt::print("  layout      {}\n  first file  {}\n  last file   {}\n", facts.layout, facts.first_path,
               facts.last_path);
    for (const std::string& note : facts.notes) fmt::print("  note        {}\n", note);
    if (!frames) return;
    std::string path(clip.index->path_capacity(), '\0');
    fmt::print("{:>8} {:>10} {:>14} {:>12}  {}\n", "frame", "number", "offset", "bytes", "file");
    for (std::uint64_t i = 0; i < clip.index->count(); ++i) {
        const Extent extent = clip.index->extent(i);
        clip.index->write_path(i, path.data());
        fmt::print("{:>8} {:>10} {:>14} {:>12}  {}\n", i, clip.index->frame_number(i), extent.offset,
                   extent.bytes, path.c_str());
    }
}

}  // namespace

int inspect_command(CliContext& context, const CliOptions& options) {
    const auto store = make_byte_store(options.play.target);
    if (store == nullptr) return report_error(context, bad_input("inspect needs files: expected a path"));
    const std::string& path = options.play.target.path;
    const auto info = store->stat(path);
    if (!info) return report_error(context, info.error());
    if (!info->has_value() && !is_pattern(path)) {
        return report_error(context,
                            environment_error(fmt::format("{}: there is no such file or directory", path)));
    }
    const auto clip = index_clip(*store, path);
    if (!clip) return report_error(context, clip.error());
    const InspectFacts facts = inspect(*clip);
    if (options.json.empty()) {
        print_clip(*clip, facts, options.frames);
        return kExitPass;
    }
    const auto written = write_document(options.json, "{\n  \"schema\": \"streamsim.inspect\"",
                                        document_of(*clip, facts, options.frames).dump(2) + "\n");
    return written ? kExitPass : report_error(context, written.error());
}

}  // namespace streamsim
