#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "base/document/json.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/output/output_file.h"
#include "media/clips/clip_index.h"
#include "media/clips/frame_checksums.h"
#include "media/clips/inspect.h"

namespace streamsim::cli {
namespace {

OrderedJson text_or_null(const std::string& text) {
    return text.empty() ? OrderedJson() : OrderedJson(text);
}

/// By which a later run recognises such a document.
constexpr std::string_view kInspectBegins = "{\n  \"schema\": \"streamsim.inspect\"";

OrderedJson inspect_document(const Clip& clip, const media::InspectFacts& facts) {
    OrderedJson document = {{"schema", "streamsim.inspect"},
                            {"version", 1},
                            {"clip", clip.name},
                            {"format", clip.format},
                            {"frames", facts.frames},
                            {"frames_missing", facts.frames_missing},
                            {"rate", {facts.rate.num, facts.rate.den}},
                            {"variable_rate", facts.variable_rate},
                            {"duration_ns", facts.duration.ns},
                            {"timecode", facts.timecode},
                            {"start_timecode", text_or_null(facts.start_timecode)},
                            {"end_timecode", text_or_null(facts.end_timecode)},
                            {"bytes", facts.bytes_total},
                            {"frame_bytes",
                             {{"min", facts.frame_bytes_min},
                              {"mean", facts.frame_bytes_mean},
                              {"p99", facts.frame_bytes_p99},
                              {"max", facts.frame_bytes_max}}},
                            {"required_bytes_per_s", facts.bytes_per_s},
                            {"bits_per_s", facts.bytes_per_s * 8},
                            {"layout", facts.layout},
                            {"structure", text_or_null(facts.structure)},
                            {"interleave", text_or_null(facts.interleave)},
                            {"frames_unaligned", facts.frames_unaligned},
                            {"first_file", facts.first_path},
                            {"last_file", facts.last_path},
                            {"warnings", facts.warnings},
                            {"notes", facts.notes}};
    if (facts.audio.chunks > 0) {
        document["audio"] = {{"chunks", facts.audio.chunks},
                             {"bytes", facts.audio.bytes},
                             {"chunk_bytes_max", facts.audio.chunk_bytes_max}};
    }
    return document;
}

/// Calls `row` with each frame and the path of its file.
template <typename Row>
void each_frame(const FrameIndex& index, const Row& row) {
    std::string path(index.path_capacity(), '\0');
    for (std::uint64_t frame = 0; frame < index.count(); ++frame) {
        index.write_path(frame, path.data());
        row(frame, path.c_str());
    }
}

/// A line for each frame. A tree of a million objects would take a GB before the first of them is written.
std::string extents_of(const FrameIndex& index) {
    std::string out;
    each_frame(index, [&](std::uint64_t frame, const char* path) {
        const Extent extent = index.extent(frame);
        out += fmt::format(
            "{}\n    {{\"frame\": {}, \"number\": {}, \"due_ns\": {}, \"file\": {}, \"offset\": {}, "
            "\"bytes\": {}",
            frame == 0 ? "" : ",", frame, index.frame_number(frame), index.due(frame).ns, json_text(Json(path)),
            extent.offset, extent.bytes);
        if (!index.listed(frame)) out += ", \"missing\": true";
        const auto audio = index.audio(frame);
        for (std::size_t i = 0; i < audio.size(); ++i) {
            out += fmt::format("{}{{\"offset\": {}, \"bytes\": {}}}", i == 0 ? ", \"audio\": [" : ", ",
                               audio[i].offset, audio[i].bytes);
        }
        out += fmt::format("{}}}", audio.empty() ? "" : "]");
    });
    return out;
}

std::string text_of(const Clip& clip, const media::InspectFacts& facts, bool frames) {
    std::string text = json_text(inspect_document(clip, facts), 2);
    if (frames) {
        text.resize(text.rfind('\n'));  // before the brace at the end
        text += ",\n  \"extents\": [" + extents_of(*clip.index) + "\n  ]\n}";
    }
    return text + "\n";
}

void print_frames(const FrameIndex& index) {
    std::string out;
    constexpr std::size_t kFlush = std::size_t{64} << 10;
    out += fmt::format("{:>8} {:>10} {:>13} {:>14} {:>12}  {}\n", "frame", "number", "due s", "offset", "bytes",
                       "file");
    each_frame(index, [&](std::uint64_t frame, const char* path) {
        const Extent extent = index.extent(frame);
        const std::int64_t due = index.due(frame).ns;
        out += fmt::format("{:>8} {:>10} {:>6}.{:06} {:>14} {:>12}  {}{}\n", frame, index.frame_number(frame),
                           due / 1'000'000'000, due % 1'000'000'000 / 1000, extent.offset, extent.bytes,
                           printable(path), index.listed(frame) ? "" : "  (missing)");
        for (const Extent& chunk : index.audio(frame)) {
            out +=
                fmt::format("{:>8} {:>10} {:>13} {:>14} {:>12}\n", "", "audio", "", chunk.offset, chunk.bytes);
        }
        if (out.size() < kFlush) return;
        print_text(stdout, out);
        out.clear();
    });
    print_text(stdout, out);
}

std::string timecodes(const media::InspectFacts& facts) {
    if (facts.start_timecode.empty()) return "";
    if (facts.end_timecode.empty()) return fmt::format("  timecode    from {}\n", facts.start_timecode);
    return fmt::format("  timecode    {} to {} (its last frame)\n", facts.start_timecode, facts.end_timecode);
}

template <typename... Values>
void print_fact(fmt::format_string<Values...> format, Values&&... values) {
    print_text(stdout, fmt::format(format, std::forward<Values>(values)...));
}

void print_clip(const Clip& clip, const media::InspectFacts& facts, bool frames) {
    print_fact("{}: {}\n", printable(clip.name), printable(clip.format));
    print_fact("  frames      {} at {} fps, {} ({})\n", show_count(facts.frames), facts.rate.to_string(),
               facts.timecode, show_duration(facts.duration));
    print_fact("{}", timecodes(facts));
    print_fact("  a frame     min {}, mean {}, p99 {}, max {} bytes\n", show_count(facts.frame_bytes_min),
               show_count(nearest_whole(facts.frame_bytes_mean)), show_count(facts.frame_bytes_p99),
               show_count(facts.frame_bytes_max));
    print_fact("  needs       {:.1f} MB/s, {:.0f} Mb/s\n", facts.bytes_per_s / 1e6,
               facts.bytes_per_s * 8 / 1e6);
    if (!facts.structure.empty()) print_fact("  structure   {}\n", facts.structure);
    print_fact("  layout      {}\n", facts.layout);
    if (!facts.interleave.empty()) print_fact("  interleave  {}\n", facts.interleave);
    if (facts.audio.chunks > 0) {
        print_fact("  audio       {} in {} chunks of up to {} bytes\n", show_bytes(facts.audio.bytes),
                   show_count(facts.audio.chunks), show_count(facts.audio.chunk_bytes_max));
    }
    if (facts.first_path == facts.last_path) {
        print_fact("  file        {}\n", printable(facts.first_path));
    } else {
        print_fact("  first file  {}\n  last file   {}\n", printable(facts.first_path),
                   printable(facts.last_path));
    }
    for (const std::string& warning : facts.warnings) print_fact("  warning     {}\n", printable(warning));
    for (const std::string& note : facts.notes) {
        const bool said = std::find(facts.warnings.begin(), facts.warnings.end(), note) != facts.warnings.end();
        if (!said) print_fact("  note        {}\n", printable(note));
    }
    if (frames) print_frames(*clip.index);
}

}  // namespace

int inspect_command(CommandContext& context) {
    const CliOptions& options = context.options;
    if (options.sensitivity) return sensitivity_command(context, options.play.target.path);
    const std::shared_ptr<ByteStore> store =
        run::make_byte_store(options.play.target, options.play.credentials);
    if (store == nullptr)
        return report_error(context, bad_input(options.play.target.url + ": inspect needs files: give a path"));
    const std::string& path = options.play.target.name();
    const bool as_document = !options.files.json.empty();
    auto document = as_document ? OutputFile::prepare(options.files.json, kInspectBegins) : OutputFile();
    if (!document) return report_error(context, document.error());
    BackgroundWork work(context);
    const auto clip = work.index([store, path, &options](IndexProgress& progress) -> Result<Clip> {
        const auto info = store->stat(path);
        if (!info) return info.error();
        if (!info->has_value() && !media::is_pattern(path))
            return environment_error(fmt::format("{}: there is no such file or directory", path));
        auto indexed =
            media::index_clip(*store, path, {options.play.audio, options.play.keep_index, &progress});
        if (!indexed || !options.keep_checksums) return indexed;
        auto kept = media::keep_checksums(*store, *indexed, progress);
        return kept ? std::move(indexed) : Result<Clip>(kept.error());
    });
    if (!clip) return end_command(work, report_error(context, clip.error()));
    const media::InspectFacts facts = media::inspect(*clip);
    if (!as_document) {
        print_clip(*clip, facts, options.frames);
        return kExitPass;
    }
    document->write(text_of(*clip, facts, options.frames));
    const auto written = document->finish();
    return written ? kExitPass : report_error(context, written.error());
}

}  // namespace streamsim::cli
