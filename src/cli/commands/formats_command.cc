#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/document/json.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/options/documents.h"
#include "media/catalogue/catalogue.h"
#include "media/frames/frame_maker.h"
#include "view/live_view.h"

namespace streamsim::cli {
namespace {

/// On a terminal a heading is bold and what is secondary is dim; nowhere else, and not where the user does not
/// want it.
std::string styled(const char* style, const std::string& text) {
    return view::LiveView::colours_wanted(STDOUT_FILENO) ? style + text + "\x1b[0m" : text;
}

std::string heading(const std::string& text) {
    return styled("\x1b[1m", text);
}

std::string dim(const std::string& text) {
    return styled("\x1b[2m", text);
}

std::string container_name(const MediaFormat& format) {
    switch (format.container) {
        case MediaFormat::Container::sequence: return fmt::format(".{} files", media::frame_extension(format));
        case MediaFormat::Container::quicktime: return "QuickTime";
        case MediaFormat::Container::mp4: return "MP4";
        case MediaFormat::Container::mxf: return "MXF";
    }
    return "";
}

/// A rate that has an exact decimal is shown by it, and its fraction where it has none.
std::string show_frame_rate(FrameRate rate) {
    return rate.den == 1 ? media::rate_label(rate)
                         : fmt::format("{} ({})", media::rate_label(rate), rate.to_string());
}

std::vector<FrameRate> rising(std::vector<FrameRate> rates) {
    std::sort(rates.begin(), rates.end(),
              [](const FrameRate& a, const FrameRate& b) { return a.num * b.den < b.num * a.den; });
    return rates;
}

std::string rate_labels(const std::vector<FrameRate>& rates) {
    std::vector<std::string> labels;
    for (const FrameRate& rate : rising(rates)) labels.push_back(media::rate_label(rate));
    return fmt::format("{}", fmt::join(labels, " "));
}

template <typename... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
    print_text(stdout, fmt::format(format, std::forward<Values>(values)...));
}

/// The frame-size model in words.
std::string size_words(const FrameSizeModel& size) {
    switch (size.kind) {
        case FrameSizeModel::Kind::constant: return "every frame alike";
        case FrameSizeModel::Kind::table: return fmt::format("{} sizes, over and over", size.table.size());
        case FrameSizeModel::Kind::scene:
            return fmt::format(
                "shots of {} to {} frames, each at a level of {} to {} of the mean; inside a shot {} %, a "
                "frame like the one before ({}); none above {} of the mean",
                size.shot_frames_min, size.shot_frames_max, size.level_min, size.level_max,
                size.variation * 100, size.correlation, size.cap);
        case FrameSizeModel::Kind::long_gop:
            return fmt::format(
                "groups of {} frames, stored as {}; I, P and B as {} : {} : {}, each {} % more or less; none "
                "above {} of the mean",
                size.gop.size(), size.gop, size.weight_i, size.weight_p, size.weight_b, size.variation * 100,
                size.cap);
    }
    return "";
}

OrderedJson rate_document(const MediaFormat& format) {
    return {{"rate", {format.rate.num, format.rate.den}},
            {"mean_frame_bytes", nearest_whole(format.mean_frame_bytes)},
            {"bytes_per_s", nearest_whole(format.bytes_per_s())},
            {"bits_per_s", nearest_whole(format.bytes_per_s() * 8)}};
}

OrderedJson document_of(const media::OpenedFormat& shown) {
    const MediaFormat& format = shown.format;
    OrderedJson document = {{"name", format.name},
                            {"title", format.title},
                            {"container", media::container_word(format.container)},
                            {"codec", format.codec},
                            {"profile", format.profile},
                            {"width", format.width},
                            {"height", format.height},
                            {"rate", {format.rate.num, format.rate.den}},
                            {"rates", OrderedJson::array()},
                            {"mean_frame_bytes", nearest_whole(format.mean_frame_bytes)},
                            {"required_bytes_per_s", nearest_whole(format.bytes_per_s())},
                            {"frame_sizes", size_words(format.size)},
                            {"prepared", format.not_prepared.empty()}};
    for (const MediaFormat& at : shown.at_rates) document["rates"].push_back(rate_document(at));
    if (!format.not_prepared.empty()) document["not_prepared"] = format.not_prepared;
    document["sources"] = format.sources;
    return document;
}

void print_heading(const std::string& title, const std::string& rates) {
    print("\n{}{}\n", heading(title), dim(rates.empty() ? "" : "  at " + rates + " fps"));
}

/// Names have the width of the longest one, so that they can be copied by a double click from any row.
void print_formats_table(const media::Catalogue& catalogue) {
    std::size_t name_width = 4;
    std::size_t title_width = 10;
    for (const MediaFormat& format : catalogue.formats()) {
        name_width = std::max(name_width, format.name.size());
        title_width = std::max(title_width, format.title.size());
    }
    print("{}\n", heading(fmt::format("{:<{}}  {:<{}}  {:>8}  {:>8}  {:>6}  {:>6}  {}", "name", name_width,
                                      "what it is", title_width, "MB/frame", "MB/s", "Mb/s", "fps", "files")));
    bool of_their_own = false;
    for (const media::FormatDocument& document : catalogue.documents()) {
        const std::vector<FrameRate>& shared = document.entries.front().own().rates;
        const bool same =
            std::all_of(document.entries.begin(), document.entries.end(),
                        [&shared](const media::FormatEntry& e) { return e.own().rates == shared; });
        if (document.family) {
            print_heading(document.title, same ? rate_labels(shared) : "");
        } else if (!of_their_own) {
            of_their_own = true;
            print_heading("The four data sets, and other single formats", "");
        }
        for (const media::FormatEntry& entry : document.entries) {
            const MediaFormat& format = entry.own();
            std::string more = document.family && !same ? "  at " + rate_labels(format.rates) + " fps" : "";
            if (!format.not_prepared.empty()) more += "  not made by prepare";
            print("{:<{}}  {:<{}}  {:>8.3f}  {:>8.1f}  {:>6.0f}  {:>6}  {}{}\n", format.name, name_width,
                  format.title, title_width, format.mean_frame_bytes / 1e6, format.bytes_per_s() / 1e6,
                  format.bytes_per_s() * 8 / 1e6, media::rate_label(format.rate), container_name(format),
                  dim(more));
        }
    }
    print(
        "\nMB are 10^6 bytes. NAME@RATE is a format at another of its rates (dnxhr-hqx-uhd@23.976); "
        "`streamsim formats NAME` shows all of one.\n");
}

void print_format(const media::OpenedFormat& shown) {
    const MediaFormat& format = shown.format;
    print("{}: {}\n", format.name, format.title);
    print("  raster      {} x {}\n  rate        {} fps\n  codec       {}{}\n  files       {}\n", format.width,
          format.height, show_frame_rate(format.rate), format.codec,
          format.profile.empty() ? "" : " " + format.profile, container_name(format));
    print("  a frame     {} bytes{}\n", show_count(nearest_whole(format.mean_frame_bytes)),
          format.size.kind == FrameSizeModel::Kind::constant ? "" : " on average");
    print("  sizes       {}\n", size_words(format.size));
    print("  needs       {:.1f} MB/s, {:.0f} Mb/s a stream\n", format.bytes_per_s() / 1e6,
          format.bytes_per_s() * 8 / 1e6);
    print("  prepare     {}\n",
          format.not_prepared.empty() ? "makes it" : "does not make it: " + format.not_prepared);
    print("  rates\n    {:<20}  {:>12}  {:>8}  {:>6}  {}\n", "fps", "bytes/frame", "MB/s", "Mb/s", "name");
    for (const MediaFormat& at : shown.at_rates) {
        print("    {:<20}  {:>12}  {:>8.1f}  {:>6.0f}  {}\n", show_frame_rate(at.rate),
              show_count(nearest_whole(at.mean_frame_bytes)), at.bytes_per_s() / 1e6,
              at.bytes_per_s() * 8 / 1e6, at.name);
    }
    print("  sources\n");
    for (const std::string& source : format.sources) print("    - {}\n", source);
}

}  // namespace

int formats_command(CommandContext& context) {
    const CliOptions& options = context.options;
    const auto directory = formats_directory();
    if (!directory) return report_error(context, directory.error());
    const auto catalogue = media::Catalogue::load(*directory + "/media");
    if (!catalogue) return report_error(context, catalogue.error());
    std::vector<media::OpenedFormat> shown;
    if (options.name.empty()) {
        for (const media::FormatDocument& document : catalogue->documents()) {
            for (const media::FormatEntry& entry : document.entries)
                shown.push_back({entry.own(), entry.at_rates});
        }
    } else {
        auto format = media::open_format(*catalogue, options.name);
        if (!format) return report_error(context, format.error());
        shown.push_back(std::move(*format));
    }
    if (!options.files.json.empty()) {
        OrderedJson document = {{"schema", "streamsim.formats"}, {"version", 1}};
        OrderedJson& list = document["formats"] = OrderedJson::array();
        for (const media::OpenedFormat& one : shown) list.push_back(document_of(one));
        const auto written = write_document(options.files.json, "{\n  \"schema\": \"streamsim.formats\"",
                                            json_text(document, 2) + "\n");
        return written ? kExitPass : report_error(context, written.error());
    }
    if (options.name.empty()) {
        print_formats_table(*catalogue);
    } else {
        print_format(shown.front());
    }
    return kExitPass;
}

}  // namespace streamsim::cli
