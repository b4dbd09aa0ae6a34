// A document is a ClusterModel with the basis of each number. Required and optional members:
//
//   - A cluster has nodes, a front-end link, processors, RAM and drives; a seat has processors and a link.
//   These
//     members are required. A member that is left out does not exist (a back end, an SSD, a coordinator of
//     files, a narrow port), costs nothing (the processor time of an open) or takes no time (a latency).
//   - The costs of writing default to those of reading (processor, drives); the costs of names default to that
//     of an open.
//   - The kind of a drive decides its members: a flash drive does not rotate.
//   - A basis begins with one of a few words, so that a reader sees at once how far to trust the number.
//   - A number that was measured may have an interval, low and high (number_reader.h).
//
// Times are texts with a unit ("50us"), sizes are texts with a unit or whole bytes, everything else is a number
// whose unit is the last word of its key.
#include "sim/model/model_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/document/json.h"
#include "sim/model/calibration_facts.h"
#include "sim/model/number_reader.h"

namespace streamsim::sim {
namespace {

constexpr std::string_view kSchema = "streamsim.storage-model";
constexpr int kVersion = 1;
constexpr std::uint64_t kDrivesMax = 1'000'000;

void read_link(Numbers& from, LinkModel& link) {
    from.number("bits_per_s", 1, kRateMax, Need::required, link.bits_per_s);
    from.number("efficiency", 1e-3, 1, Need::optional, link.efficiency);
    from.duration("latency", Need::optional, link.latency);
}

constexpr const char* kQuantiles[] = {"p10", "p50", "p90", "p99", "p99_9", "max"};

/// All of the quantiles or none, each no less than the one before it.
void read_quantiles(Numbers& from, LatencyModel& latency) {
    latency.by_quantiles = true;
    bool complete = true;
    for (std::size_t i = 0; i < std::size(kQuantiles); ++i) {
        from.duration(kQuantiles[i], Need::required, latency.quantiles[i]);
        complete = complete && from.has(kQuantiles[i]);
        if (complete && i > 0 && latency.quantiles[i] < latency.quantiles[i - 1])
            from.problem(kQuantiles[i], fmt::format("expected no less than {}", kQuantiles[i - 1]));
    }
}

void read_latency(Numbers& from, LatencyModel& latency) {
    const auto quantiles = std::count_if(std::begin(kQuantiles), std::end(kQuantiles),
                                         [&](const char* key) { return from.has(key); });
    if (quantiles == std::ssize(kQuantiles) || (quantiles > 0 && !from.has("median")))
        return read_quantiles(from, latency);
    from.duration("median", Need::required, latency.median);
    from.number("spread", 0, 1, Need::optional, latency.spread);
    from.number("tail_share", 0, 1, Need::optional, latency.tail_share);
    from.duration("tail_mean", Need::optional, latency.tail_mean);
    if (latency.tail_share > 0 && !from.has("tail_mean"))
        from.problem("tail_mean", "missing: a tail_share above 0 says how often, and this how much");
}

void read_other_load(Numbers& from, OtherLoadModel& load) {
    from.number("share", 0, 0.95, Need::required, load.share);
    from.duration("mean_length", Need::required, load.mean_length);
    from.duration("mean_gap", Need::required, load.mean_gap);
    for (const auto& [key, time] :
         {std::pair{"mean_length", load.mean_length}, std::pair{"mean_gap", load.mean_gap}}) {
        if (from.has(key) && time.ns <= 0) from.problem(key, "expected more than no time");
    }
}

void read_read_lines(Numbers& from, ReadLinesModel& lines) {
    from.count("lines", 1, 10'000, Need::required, lines.lines);
    from.number("bytes_per_s", 1, kRateMax, Need::required, lines.bytes_per_s);
    from.part("access", Need::optional, [&](Numbers& part) { read_latency(part, lines.access); });
}

void read_metadata(Numbers& from, MetadataModel& metadata) {
    from.number("cpu_s_per_stat", 0, kSecondsMax, Need::optional, metadata.cpu_s_per_stat);
    from.number("cpu_s_per_list", 0, kSecondsMax, Need::optional, metadata.cpu_s_per_list);
    from.number("cpu_s_per_create", 0, kSecondsMax, Need::optional, metadata.cpu_s_per_create);
    from.number("cpu_s_per_remove", 0, kSecondsMax, Need::optional, metadata.cpu_s_per_remove);
    from.number("cpu_s_per_rename", 0, kSecondsMax, Need::optional, metadata.cpu_s_per_rename);
    from.count("lines", 1, 10'000, Need::optional, metadata.lines);
    from.number("line_share", 0, 1e6, Need::optional, metadata.line_share);
    if (from.has("line_share") && !from.has("lines"))
        from.problem("line_share", "changes nothing without lines");
}

void read_journal(Numbers& from, JournalModel& journal) {
    from.size("bytes", 1, Need::required, journal.bytes);
    from.number("bytes_per_s", 1, kRateMax, Need::optional, journal.bytes_per_s);
    from.duration("latency", Need::optional, journal.latency);
    from.count("merge_pages", 1, 1'000'000, Need::optional, journal.merge_pages);
}

/// Without costs of their own, a write costs the same as a read, and a name the same as an open.
void read_writing(Numbers& from, NodeModel& node) {
    node.cpu_s_per_write = node.cpu_s_per_request;
    node.write_cpu_s_per_byte = node.cpu_s_per_byte;
    from.number("cpu_s_per_write", 0, kSecondsMax, Need::optional, node.cpu_s_per_write);
    from.number("write_cpu_s_per_byte", 0, 1, Need::optional, node.write_cpu_s_per_byte);
    MetadataModel& metadata = node.metadata;
    for (double* const cost : {&metadata.cpu_s_per_stat, &metadata.cpu_s_per_list, &metadata.cpu_s_per_create,
                               &metadata.cpu_s_per_remove, &metadata.cpu_s_per_rename})
        *cost = node.cpu_s_per_open;
    from.part("metadata", Need::optional, [&](Numbers& part) { read_metadata(part, metadata); });
    from.part("journal", Need::optional, [&](Numbers& part) { read_journal(part, node.journal); });
}

void read_node(Numbers& from, NodeModel& node) {
    from.part("front_end", Need::required, [&](Numbers& part) { read_link(part, node.front_end); });
    from.part("back_end", Need::optional, [&](Numbers& part) { read_link(part, node.back_end); });
    from.number("cores", 0.01, 1e4, Need::required, node.cores);
    from.number("cpu_s_per_open", 0, kSecondsMax, Need::optional, node.cpu_s_per_open);
    from.number("cpu_s_per_request", 0, kSecondsMax, Need::optional, node.cpu_s_per_request);
    from.number("cpu_s_per_byte", 0, 1, Need::optional, node.cpu_s_per_byte);
    from.number("cpu_s_per_frame", 0, kSecondsMax, Need::optional, node.cpu_s_per_frame);
    from.number("connection_bytes_per_s", 1, kRateMax, Need::optional, node.connection_bytes_per_s);
    read_writing(from, node);
    from.size("ram_bytes", 0, Need::required, node.ram_bytes);
    from.size("l2_bytes", 1, Need::optional, node.l2_bytes);
    from.size("ssd_bytes", 0, Need::optional, node.ssd_bytes);
    from.part("ssd", Need::optional, [&](Numbers& part) { read_link(part, node.ssd); });
    from.number("ssd_s_per_request", 0, kSecondsMax, Need::optional, node.ssd_s_per_request);
    from.count("drives", 1, 10'000, Need::required, node.drives);
    from.part("read_lines", Need::optional, [&](Numbers& part) { read_read_lines(part, node.read_lines); });
    from.part("response", Need::optional, [&](Numbers& part) { read_latency(part, node.response); });
    from.part("other_load", Need::optional, [&](Numbers& part) { read_other_load(part, node.other_load); });
    if (from.has("ssd_s_per_request") && !from.has("ssd"))
        from.problem("ssd_s_per_request", "changes nothing without an ssd");
    if (node.ssd_bytes > 0 && !from.has("ssd"))
        from.problem("ssd", "missing: a cache of ssd_bytes has a rate and a latency");
}

void read_rotational(Numbers& from, DriveModel& drive) {
    from.number("outer_bytes_per_s", 1, kRateMax, Need::required, drive.outer_bytes_per_s);
    from.number("inner_bytes_per_s", 1, kRateMax, Need::required, drive.inner_bytes_per_s);
    from.number("rotations_per_s", 1, 1e4, Need::required, drive.rotations_per_s);
    from.duration("seek_track", Need::required, drive.seek_track);
    from.duration("seek_full", Need::required, drive.seek_full);
    from.number("filled", 1e-6, 1, Need::optional, drive.filled);
    from.count("reorder", 1, 10'000, Need::optional, drive.reorder);
    if (drive.inner_bytes_per_s > drive.outer_bytes_per_s && from.has("outer_bytes_per_s"))
        from.problem("inner_bytes_per_s", "the inner zone of a disk is no faster than its outer one");
    if (from.has("seek_track") && from.has("seek_full") && drive.seek_full < drive.seek_track)
        from.problem("seek_full", "over the whole disk takes no less than to the next track (seek_track)");
}

void read_drive(Numbers& from, DriveModel& drive) {
    const auto kind = from.object().one_of("kind", {"rotational", "flash"});
    if (kind == "rotational") read_rotational(from, drive);
    if (kind == "flash") {
        drive.kind = DriveModel::Kind::flash;
        from.number("channel_bytes_per_s", 1, kRateMax, Need::required, drive.outer_bytes_per_s);
        from.count("channels", 1, 10'000, Need::required, drive.channels);
    }
    if (!kind) {  // the members of either kind are no further mistake
        for (const char* key :
             {"outer_bytes_per_s", "inner_bytes_per_s", "rotations_per_s", "seek_track", "seek_full", "filled",
              "reorder", "channel_bytes_per_s", "channels", "write_access"})
            from.object().member(key, false);
    }
    from.size("capacity_bytes", 1 << 20, Need::required, drive.capacity_bytes);
    from.part("access", kind == "flash" ? Need::required : Need::optional,
              [&](Numbers& part) { read_latency(part, drive.access); });
    drive.write_access = drive.access;
    if (kind != "flash") return;
    from.part("write_access", Need::optional, [&](Numbers& part) {
        drive.write_access = {};
        read_latency(part, drive.write_access);
    });
}

void read_network(Numbers& from, SwitchModel& network) {
    from.count("mtu", 576, 65535, Need::optional, network.mtu);
    from.size("message_bytes", 0, Need::optional, network.message_bytes);
    from.number("port_bits_per_s", 1, kRateMax, Need::optional, network.port_bits_per_s);
    from.boolean("flow_control", network.flow_control);
    from.size("port_buffer_bytes", 1, Need::optional, network.port_buffer_bytes);
    from.duration("retransmit_after", Need::optional, network.retransmit_after);
    from.size("segment_bytes", 64, Need::optional, network.segment_bytes);
    if (network.flow_control) return;
    for (const char* key : {"port_buffer_bytes", "retransmit_after"}) {
        if (!from.has(key))
            from.problem(key,
                         "missing: without flow control what does not fit into the port's buffer is lost, "
                         "and sent again after a time");
    }
    if (from.has("retransmit_after") && network.retransmit_after.ns == 0)
        from.problem("retransmit_after", "expected more than no time");
}

/// A cost that an earlier one covers would never be taken.
bool covers(const FrameCost& first, const FrameCost& second) {
    return (first.codec.empty() || first.codec == second.codec) &&
           (first.bits == 0 || first.bits == second.bits);
}

void read_frame_costs(Numbers& from, const char* key, std::vector<FrameCost>& costs) {
    from.list(key, "expected a list of costs a frame, of which the first that fits is taken",
              [&](Numbers& element) {
                  FrameCost cost;
                  cost.codec = element.object().string("codec", false).value_or("");
                  cost.bits = static_cast<int>(element.object().integer("bits", 1, 16, false).value_or(0));
                  if (cost.bits != 0 && cost.codec != "dpx")
                      element.problem("bits", "is for \"codec\": \"dpx\": of no other is it known");
                  element.number("s_per_frame", 0, kSecondsMax, Need::optional, cost.s_per_frame);
                  element.number("s_per_pixel", 0, 1, Need::optional, cost.s_per_pixel);
                  if (!element.has("s_per_frame") && !element.has("s_per_pixel"))
                      element.problem("s_per_frame", "missing: a cost has s_per_frame, s_per_pixel or both");
                  for (std::size_t i = 0; i < costs.size(); ++i) {
                      if (!covers(costs[i], cost)) continue;
                      element.problem("codec", fmt::format("never taken: /client/{}/{} fits whatever this "
                                                           "one fits, and stands before it",
                                                           key, i));
                      break;
                  }
                  costs.push_back(std::move(cost));
              });
}

/// `node_serves_connections`: the node has a rate for each.
void read_client(Numbers& from, bool node_serves_connections, ClientModel& client) {
    from.number("cores", 0.01, 1e4, Need::required, client.cores);
    from.number("cpu_ceiling", 0.01, 1, Need::optional, client.cpu_ceiling);
    read_frame_costs(from, "decode", client.decode);
    read_frame_costs(from, "display", client.display);
    from.number("cpu_s_per_request", 0, kSecondsMax, Need::optional, client.cpu_s_per_request);
    from.number("cpu_s_per_byte", 0, 1, Need::optional, client.cpu_s_per_byte);
    from.part("link", Need::required, [&](Numbers& part) { read_link(part, client.link); });
    from.count("connections", 1, 1024, Need::optional, client.connections);
    from.number("connection_bytes_per_s", 1, kRateMax, Need::optional, client.connection_bytes_per_s);
    client.connection_write_bytes_per_s = client.connection_bytes_per_s;
    from.number("connection_write_bytes_per_s", 1, kRateMax, Need::optional,
                client.connection_write_bytes_per_s);
    if (from.has("connection_write_bytes_per_s") && !from.has("connection_bytes_per_s"))
        from.problem("connection_write_bytes_per_s", "is beside connection_bytes_per_s, which is missing");
    if (from.has("connections") && !from.has("connection_bytes_per_s") && !node_serves_connections)
        from.problem("connections", "changes nothing without the rate of one, connection_bytes_per_s");
}

void read_strategy(Numbers& from, StrategyModel& strategy) {
    from.size("concurrency_bytes", 0, Need::optional, strategy.concurrency_bytes);
    from.size("streaming_bytes", 0, Need::optional, strategy.streaming_bytes);
    from.count("filename_files", 0, 10'000, Need::optional, strategy.filename_files);
    from.number("streaming_cpu_s_per_byte", 0, 1, Need::optional, strategy.streaming_cpu_s_per_byte);
    from.number("filename_cpu_s_per_byte", 0, 1, Need::optional, strategy.filename_cpu_s_per_byte);
}

/// A name as it is typed after "sim:".
void read_name(JsonObject& object, std::string& into) {
    const auto name = object.string("name");
    if (!name) return;
    constexpr std::size_t kNameMax = 64;
    const bool plain = name->size() <= kNameMax && std::isalnum(static_cast<unsigned char>((*name)[0])) != 0 &&
                       std::all_of(name->begin(), name->end(), [](char c) {
                           const auto byte = static_cast<unsigned char>(c);
                           return std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.';
                       });
    if (!plain || *name == "null") {
        object.problem("name",
                       "expected up to 64 letters, digits, '-', '_' and '.', the first a letter or a "
                       "digit, and not \"null\", which is sim:null");
    }
    into = *name;
}

void read_title(JsonObject& object, std::string& into) {
    const auto title = object.string("title");
    if (!title) return;
    const bool plain = std::none_of(title->begin(), title->end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
    });
    if (!plain) object.problem("title", "expected one line without control characters");
    into = *title;
}

}  // namespace

std::vector<ModelProblem> problems_together(const ClusterModel& model) {
    std::vector<ModelProblem> problems;
    if (model.nodes > 1 && model.node.back_end.bits_per_s == 0)
        problems.push_back({"node", "a cluster of several nodes has a \"back_end\" between them"});
    for (const auto& [key, bytes] : {std::pair{"concurrency_bytes", model.strategy.concurrency_bytes},
                                     std::pair{"streaming_bytes", model.strategy.streaming_bytes}}) {
        if (bytes <= model.node.ram_bytes || model.node.ram_bytes == 0) continue;
        problems.push_back(
            {"strategy", fmt::format("{}: expected at most the {} bytes of /node/ram_bytes: what "
                                     "is read ahead waits there",
                                     key, model.node.ram_bytes)});
    }
    if (model.page_bytes > 0 &&
        (model.page_bytes > model.block_bytes || model.block_bytes % model.page_bytes != 0))
        problems.push_back(
            {"page_bytes", fmt::format("expected a part of the {} bytes of /block_bytes, which is a "
                                       "multiple of it",
                                       model.block_bytes)});
    if (model.stripe_bytes > 0 &&
        (model.stripe_bytes > model.block_bytes || model.block_bytes % model.stripe_bytes != 0))
        problems.push_back(
            {"stripe_bytes", fmt::format("expected a part of the {} bytes of /block_bytes, which is a "
                                         "multiple of it",
                                         model.block_bytes)});
    if (model.drive.capacity_bytes > 0 && model.drive.capacity_bytes < model.block_bytes)
        problems.push_back(
            {"drive",
             fmt::format("capacity_bytes: expected at least the {} bytes of /block_bytes: a drive holds "
                         "whole blocks",
                         model.block_bytes)});
    const std::uint64_t drives = std::uint64_t{model.nodes} * model.node.drives;
    if (drives > kDrivesMax)
        problems.push_back({"nodes", fmt::format("{} drives in all are more than {}", drives, kDrivesMax)});
    if (model.data_drives >= drives && drives > 1) {
        problems.push_back(
            {"data_drives", fmt::format("expected less than the {} drives that there are: a lost block is read "
                                        "from {} others",
                                        drives, model.data_drives)});
    }
    return problems;
}

Result<ClusterModel> read_model_document(std::string_view text, const std::string& source) {
    const auto json = parse_json(text, source);
    if (!json) return json.error();
    JsonProblems problems(source);
    ClusterModel model;
    Numbers top(*json, "", problems, {model.sources, model.uncertain});
    check_schema(top.object(), kSchema, kVersion);
    read_name(top.object(), model.name);
    read_title(top.object(), model.title);
    top.object().string("description", false);
    top.count("nodes", 1, 10'000, Need::required, model.nodes);
    top.size("block_bytes", 4096, Need::optional, model.block_bytes);
    top.size("stripe_bytes", 4096, Need::optional, model.stripe_bytes);
    top.count("data_drives", 1, 1024, Need::optional, model.data_drives);
    top.count("protection_drives", 0, 1024, Need::optional, model.protection_drives);
    top.number("file_bytes_per_s", 1, kRateMax, Need::optional, model.file_bytes_per_s);
    top.number("file_write_bytes_per_s", 1, kRateMax, Need::optional, model.file_write_bytes_per_s);
    top.size("page_bytes", 512, Need::optional, model.page_bytes);
    top.part("node", Need::required, [&](Numbers& part) { read_node(part, model.node); });
    top.part("drive", Need::required, [&](Numbers& part) { read_drive(part, model.drive); });
    top.part("network", Need::optional, [&](Numbers& part) { read_network(part, model.network); });
    top.part("strategy", Need::optional, [&](Numbers& part) { read_strategy(part, model.strategy); });
    top.part("client", Need::required,
             [&](Numbers& part) { read_client(part, model.node.connection_bytes_per_s > 0, model.client); });
    model.node.front_end.efficiency *= model.network.payload_share();
    model.client.link.efficiency *= model.network.payload_share();
    for (const ModelProblem& each : problems_together(model)) {
        if (top.has("node")) top.problem(each.member, each.text);
    }
    if (const Json* facts = top.object().member("calibration", false))
        model.calibration = read_calibration(*facts, model.sources, problems);
    top.finish();
    if (!problems.empty()) return problems.error();
    return model;
}

}  // namespace streamsim::sim
