// Every entry of the catalogue against numbers written by hand from what was measured or published, not from
// the code under test: bytes a frame, MB/s, and the rates that the entry has.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <sstream>

#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::shipped_formats;

constexpr const char* kAll = "24 23.976 25 29.97 30 50 59.94 60";
constexpr const char* kBroadcast = "25 23.976 29.97 50 59.94";

/// One line for each size that an entry has: nearly all have one at all rates.
struct Line {
    const char* name;
    double bytes;     // a frame, on average
    double mb_per_s;  // at the first of `rates`, 10^6 bytes
    const char* rates;
};

// clang-format off
constexpr Line kLines[] = {
    {"prores-proxy-hd", 189773, 4.555, kAll},
    {"prores-proxy-2k", 214798, 5.155, kAll},
    {"prores-proxy-uhd", 757006, 18.168, kAll},
    {"prores-proxy-4k", 809142, 19.419, kAll},
    {"prores-proxy-5k", 1267933, 30.430, kAll},
    {"prores-proxy-6k", 1824740, 43.794, kAll},
    {"prores-proxy-8k", 3244908, 77.878, kAll},
    {"prores-lt-hd", 425425, 10.210, kAll},
    {"prores-lt-2k", 483817, 11.612, kAll},
    {"prores-lt-uhd", 1712127, 41.091, kAll},
    {"prores-lt-4k", 1824740, 43.794, kAll},
    {"prores-lt-5k", 2850765, 68.418, kAll},
    {"prores-lt-6k", 4106185, 98.548, kAll},
    {"prores-lt-8k", 7298958, 175.175, kAll},
    {"prores-422-hd", 611027, 14.665, kAll},
    {"prores-422-2k", 698615, 16.767, kAll},
    {"prores-422-uhd", 2456621, 58.959, kAll},
    {"prores-422-4k", 2621369, 62.913, kAll},
    {"prores-422-5k", 4099929, 98.398, kAll},
    {"prores-422-6k", 5897558, 141.541, kAll},
    {"prores-422-8k", 10485475, 251.651, kAll},
    {"prores-422hq-hd", 917583, 22.022, kAll},
    {"prores-422hq-2k", 1048965, 25.175, kAll},
    {"prores-422hq-uhd", 3687017, 88.488, kAll},
    {"prores-422hq-4k", 3928925, 94.294, kAll},
    {"prores-422hq-5k", 6143638, 147.447, kAll},
    {"prores-422hq-6k", 8846338, 212.312, kAll},
    {"prores-422hq-8k", 15728212, 377.477, kAll},
    {"prores-4444-hd", 1376375, 33.033, kAll},
    {"prores-4444-2k", 1572404, 37.738, kAll},
    {"prores-4444-uhd", 5530525, 132.733, kAll},
    {"prores-4444-4k", 5895473, 141.491, kAll},
    {"prores-4444-5k", 9215456, 221.171, kAll},
    {"prores-4444-6k", 13271592, 318.518, kAll},
    {"prores-4444-8k", 23592319, 566.216, kAll},
    {"prores-4444xq-hd", 2064562, 49.549, kAll},
    {"prores-4444xq-2k", 2358606, 56.607, kAll},
    {"prores-4444xq-uhd", 8293702, 199.049, kAll},
    {"prores-4444xq-4k", 8865106, 212.763, kAll},
    {"prores-4444xq-5k", 13824227, 331.781, kAll},
    {"prores-4444xq-6k", 19905302, 477.727, kAll},
    {"prores-4444xq-8k", 35389521, 849.349, kAll},
    {"dnxhr-lb-hd", 188416, 4.522, kAll},
    {"dnxhr-lb-2k", 200704, 4.817, kAll},
    {"dnxhr-lb-uhd", 749568, 17.990, kAll},
    {"dnxhr-lb-4k", 798720, 19.169, kAll},
    {"dnxhr-sq-hd", 606208, 14.549, kAll},
    {"dnxhr-sq-2k", 647168, 15.532, kAll},
    {"dnxhr-sq-uhd", 2408448, 57.803, kAll},
    {"dnxhr-sq-4k", 2568192, 61.637, kAll},
    {"dnxhr-hq-hd", 917504, 22.020, kAll},
    {"dnxhr-hq-2k", 978944, 23.495, kAll},
    {"dnxhr-hq-uhd", 3641344, 87.392, kAll},
    {"dnxhr-hq-4k", 3887104, 93.290, kAll},
    {"dnxhr-hqx-hd", 917504, 22.020, kAll},
    {"dnxhr-hqx-2k", 978944, 23.495, kAll},
    {"dnxhr-hqx-uhd", 3641344, 87.392, kAll},
    {"dnxhr-hqx-4k", 3887104, 93.290, kAll},
    {"dnxhr-444-hd", 1835008, 44.040, kAll},
    {"dnxhr-444-2k", 1957888, 46.989, kAll},
    {"dnxhr-444-uhd", 7286784, 174.883, kAll},
    {"dnxhr-444-4k", 7770112, 186.483, kAll},
    {"dpx8-hd", 6228992, 149.496, kAll},
    {"dpx8-2k", 6643712, 159.449, kAll},
    {"dpx8-uhd", 24891392, 597.393, kAll},
    {"dpx8-4k", 26550272, 637.207, kAll},
    {"dpx10-filled-a-hd", 8302592, 199.262, kAll},
    {"dpx10-filled-a-2k", 8855552, 212.533, kAll},
    {"dpx10-filled-a-uhd", 33185792, 796.459, kAll},
    {"dpx10-filled-a-4k", 35397632, 849.543, kAll},
    {"dpx10-filled-b-hd", 8302592, 199.262, kAll},
    {"dpx10-filled-b-2k", 8855552, 212.533, kAll},
    {"dpx10-filled-b-uhd", 33185792, 796.459, kAll},
    {"dpx10-filled-b-4k", 35397632, 849.543, kAll},
    {"dpx10-packed-hd", 7784192, 186.821, kAll},
    {"dpx10-packed-2k", 8302592, 199.262, kAll},
    {"dpx10-packed-uhd", 31112192, 746.693, kAll},
    {"dpx10-packed-4k", 33185792, 796.459, kAll},
    {"dpx12-filled-hd", 12449792, 298.795, kAll},
    {"dpx12-filled-2k", 13279232, 318.702, kAll},
    {"dpx12-filled-uhd", 49774592, 1194.590, kAll},
    {"dpx12-filled-4k", 53092352, 1274.216, kAll},
    {"dpx12-packed-hd", 9339392, 224.145, kAll},
    {"dpx12-packed-2k", 9961472, 239.075, kAll},
    {"dpx12-packed-uhd", 37332992, 895.992, kAll},
    {"dpx12-packed-4k", 39821312, 955.711, kAll},
    {"dpx16-hd", 12449792, 298.795, kAll},
    {"dpx16-2k", 13279232, 318.702, kAll},
    {"dpx16-uhd", 49774592, 1194.590, kAll},
    {"dpx16-4k", 53092352, 1274.216, kAll},
    {"exr-none-hd", 12459483, 299.028, kAll},
    {"exr-none-2k", 13288923, 318.934, kAll},
    {"exr-none-uhd", 49801563, 1195.238, kAll},
    {"exr-none-4k", 53119323, 1274.864, kAll},
    {"exr-zip-hd", 4750000, 114.000, kAll},
    {"exr-zip-2k", 5066667, 121.600, kAll},
    {"exr-zip-uhd", 19000000, 456.000, kAll},
    {"exr-zip-4k", 20266667, 486.400, kAll},
    {"exr-piz-hd", 4737500, 113.700, kAll},
    {"exr-piz-2k", 5053333, 121.280, kAll},
    {"exr-piz-uhd", 18950000, 454.800, kAll},
    {"exr-piz-4k", 20213333, 485.120, kAll},
    {"exr-dwaa-hd", 3275000, 78.600, kAll},
    {"exr-dwaa-2k", 3493333, 83.840, kAll},
    {"exr-dwaa-uhd", 13100000, 314.400, kAll},
    {"exr-dwaa-4k", 13973333, 335.360, kAll},
    {"tiff16-hd", 12448438, 298.763, kAll},
    {"tiff16-2k", 13277878, 318.669, kAll},
    {"tiff16-uhd", 49779718, 1194.713, kAll},
    {"tiff16-4k", 53097478, 1274.339, kAll},
    {"cineon-hd", 8296448, 199.115, kAll},
    {"cineon-2k", 8849408, 212.386, kAll},
    {"cineon-uhd", 33179648, 796.312, kAll},
    {"cineon-4k", 35391488, 849.396, kAll},
    {"v210-hd", 5529600, 132.710, kAll},
    {"v210-2k", 5944320, 142.664, kAll},
    {"v210-uhd", 22118400, 530.842, kAll},
    {"v210-4k", 23777280, 570.655, kAll},
    {"cineon-2k-full", 12748800, 305.971, kAll},
    {"cineon-4k-full", 50989056, 1223.737, kAll},
    {"avci100-hd", 568832, 14.221, "25 50"},
    {"avci100-hd", 472576, 11.330, "23.976 29.97 59.94"},
    {"avci200-hd", 1144320, 28.608, "25 50"},
    {"avci200-hd", 952832, 22.845, "23.976 29.97 59.94"},
    {"xavc300-uhd", 1260032, 31.501, kBroadcast},
    {"xavc300-4k", 1260032, 31.501, kBroadcast},
    {"xavc480-uhd", 2009600, 50.240, "25 23.976 29.97"},
    {"xavc480-4k", 2009600, 50.240, "25 23.976 29.97"},
    {"arriraw-2880x1620", 6998400, 167.962, "24 23.976 25 29.97 30"},
    {"arriraw-2880x2160", 9331200, 223.949, "24 23.976 25 29.97 30"},
    {"arriraw-3414x2198", 11255958, 270.143, "24 23.976 25 29.97 30"},
    {"arriraw-4448x3096", 20656512, 495.756, "24 23.976 25 29.97 30"},
    {"jpeg2000-2k", 1302083, 31.250, "24"},
    {"jpeg2000-2k", 1250000, 31.250, "25"},
    {"jpeg2000-2k", 1041666, 31.250, "30"},
    {"jpeg2000-4k", 1302083, 31.250, "24"},
    {"jpeg2000-4k", 1250000, 31.250, "25"},
    {"jpeg2000-4k", 1041666, 31.250, "30"},
    {"h264-proxy-hd", 41666.667, 1.000, "24"},
    {"h264-proxy-hd", 41708.333, 1.000, "23.976"},
    {"h264-proxy-hd", 40000.0, 1.000, "25"},
    {"h264-proxy-hd", 33366.667, 1.000, "29.97"},
    {"h264-proxy-hd", 33333.333, 1.000, "30"},
    {"h264-proxy-hd", 20000.0, 1.000, "50"},
    {"h264-proxy-hd", 16683.333, 1.000, "59.94"},
    {"h264-proxy-hd", 16666.667, 1.000, "60"},
};
// clang-format on

const std::map<std::string, FrameRate>& exact_rates() {
    static const std::map<std::string, FrameRate> rates = {
        {"23.976", {24000, 1001}}, {"24", {24, 1}}, {"25", {25, 1}}, {"29.97", {30000, 1001}},
        {"30", {30, 1}},           {"50", {50, 1}}, {"60", {60, 1}}, {"59.94", {60000, 1001}}};
    return rates;
}

TEST(CatalogueGolden, EveryEntryHasItsBytesAndRates) {
    const Catalogue catalogue = shipped_formats();
    std::map<std::string, std::size_t> rates_seen;
    for (const Line& line : kLines) {
        std::istringstream labels(line.rates);
        bool first = true;
        for (std::string label; labels >> label; first = false) {
            ++rates_seen[line.name];
            const std::string name = std::string(line.name) + "@" + label;
            const MediaFormat* format = catalogue.find(name);
            ASSERT_NE(format, nullptr) << name;
            const FrameRate rate = exact_rates().at(label);
            EXPECT_EQ(format->rate, rate) << name;
            EXPECT_NEAR(format->mean_frame_bytes, line.bytes, 0.001) << name;
            const double bytes_per_s =
                line.bytes * static_cast<double>(rate.num) / static_cast<double>(rate.den);
            EXPECT_NEAR(format->bytes_per_s(), bytes_per_s, 0.1) << name;
            if (first) {
                EXPECT_NEAR(format->bytes_per_s() / 1e6, line.mb_per_s, 0.0006) << name;
            }
            if (format->size.kind == FrameSizeModel::Kind::constant) {
                EXPECT_EQ(format->size.mean_bytes, format->mean_frame_bytes) << name;
                EXPECT_EQ(format->mean_frame_bytes, std::floor(format->mean_frame_bytes)) << name;
            }
        }
    }
    for (const MediaFormat& format : catalogue.formats()) {
        const bool data_set = format.name == "dpx10" || format.name == "dpx12" || format.name == "prores-hd" ||
                              format.name == "prores-uhd";
        EXPECT_EQ(rates_seen[format.name], data_set ? 0 : format.rates.size())
            << format.name << " has rates that are not in the table, or is not in it";
        EXPECT_FALSE(format.sources.empty()) << format.name;
        EXPECT_EQ(format.not_prepared.empty(), format.codec != "arriraw") << format.name;
    }
    EXPECT_EQ(catalogue.formats().size(), rates_seen.size());  // the four data sets are in rates_seen by now
}

/// Apple's target rates in Mb/s at 23.976, 25, 29.97, 50 and 59.94 fps.
TEST(CatalogueGolden, ProResIsAtTheTargetRates) {
    const std::map<std::string, std::vector<std::vector<double>>> published = {
        {"hd",
         {{36, 38, 45, 76, 91},
          {82, 85, 102, 170, 204},
          {117, 122, 147, 245, 293},
          {176, 184, 220, 367, 440},
          {264, 275, 330, 551, 660},
          {396, 413, 495, 826, 990}}},
        {"2k",
         {{41, 43, 52, 86, 103},
          {93, 97, 116, 194, 232},
          {134, 140, 168, 280, 335},
          {201, 210, 251, 419, 503},
          {302, 315, 377, 629, 754},
          {453, 472, 566, 944, 1131}}},
        {"uhd",
         {{145, 151, 182, 303, 363},
          {328, 342, 410, 684, 821},
          {471, 492, 589, 983, 1178},
          {707, 737, 884, 1475, 1768},
          {1061, 1106, 1326, 2212, 2652},
          {1591, 1659, 1989, 3318, 3977}}},
        {"4k",
         {{155, 162, 194, 323, 388},
          {350, 365, 437, 730, 875},
          {503, 524, 629, 1048, 1257},
          {755, 787, 944, 1573, 1884},
          {1130, 1179, 1415, 2359, 2827},
          {1697, 1769, 2123, 3546, 4251}}},
        {"5k",
         {{243, 253, 304, 507, 608},
          {547, 570, 684, 1140, 1367},
          {786, 819, 982, 1638, 1964},
          {1178, 1229, 1473, 2458, 2946},
          {1768, 1843, 2210, 3686, 4419},
          {2652, 2765, 3314, 5530, 6629}}},
        {"6k",
         {{350, 365, 437, 730, 875},
          {788, 821, 985, 1643, 1969},
          {1131, 1180, 1414, 2359, 2828},
          {1697, 1769, 2121, 3539, 4242},
          {2545, 2654, 3182, 5308, 6364},
          {3818, 3981, 4772, 7962, 9545}}},
        {"8k",
         {{622, 649, 778, 1298, 1556},
          {1400, 1460, 1750, 2920, 3500},
          {2011, 2097, 2514, 4194, 5028},
          {3017, 3146, 3771, 6291, 7542},
          {4525, 4719, 5657, 9437, 11313},
          {6788, 7078, 8485, 14156, 16970}}}};
    const char* const kinds[] = {"proxy", "lt", "422", "422hq", "4444", "4444xq"};
    const char* const labels[] = {"23.976", "25", "29.97", "50", "59.94"};
    const Catalogue catalogue = shipped_formats();
    for (const auto& [raster, table] : published) {
        for (std::size_t kind = 0; kind < 6; ++kind) {
            for (std::size_t i = 0; i < 5; ++i) {
                const std::string name = "prores-" + std::string(kinds[kind]) + "-" + raster + "@" + labels[i];
                const MediaFormat* format = catalogue.find(name);
                ASSERT_NE(format, nullptr) << name;
                const double wanted = table[kind][i];
                EXPECT_NEAR(format->bytes_per_s() * 8 / 1e6, wanted, 0.75 + wanted * 0.004) << name;
            }
        }
    }
}

/// Published as MB/s, which are MiB/s, at UHD.
TEST(CatalogueGolden, DnxhrIsAtThePublishedRates) {
    const std::map<std::string, std::vector<double>> published = {
        {"lb", {17.14, 17.87, 21.42, 35.74, 42.85}},
        {"sq", {55.07, 57.42, 68.84, 114.84, 137.67}},
        {"hq", {83.26, 86.82, 104.08, 173.63, 208.15}},
        {"hqx", {83.26, 86.82, 104.08, 173.63, 208.15}},
        {"444", {166.61, 173.73, 208.27, 347.46, 416.54}}};
    const char* const labels[] = {"23.976", "25", "29.97", "50", "59.94"};
    const Catalogue catalogue = shipped_formats();
    for (const auto& [kind, rates] : published) {
        for (std::size_t i = 0; i < 5; ++i) {
            const MediaFormat* format = catalogue.find("dnxhr-" + kind + "-uhd@" + labels[i]);
            ASSERT_NE(format, nullptr) << kind;
            EXPECT_NEAR(format->bytes_per_s() / (1 << 20), rates[i], 0.0151) << kind << labels[i];
        }
    }
}

}  // namespace
}  // namespace streamsim::media
