#include "run/calibration/calibrated_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/document/json.h"
#include "base/system/utf8_path.h"
#include "sim/model/model_document.h"

namespace streamsim::run {
namespace {

struct Assumption {
    const char* pointer;
    OrderedJson value;
    const char* basis;
};

const std::vector<Assumption>& assumptions() {
    static const std::vector<Assumption> all = {
        {"/nodes", 1, "assumed: the whole storage as one server"},
        {"/block_bytes", "1MiB", "assumed: the size of a read of the probes"},
        {kServerRate, nullptr, ""},
        {"/node/front_end/latency", "0ns", "assumed: the response holds the time on the network"},
        {"/node/cores", 256, "assumed: more than there are reads in flight; cpu_s_per_byte is no shared limit"},
        {kOpenTime, nullptr, ""},
        {kSecondsPerByte, nullptr, ""},
        {"/node/ram_bytes", "256MiB",
         "assumed: holds blocks on their way; what caches do is in the measured times"},
        {"/node/drives", 1, "assumed: the drives are within the server's rate and the time of a read"},
        {"/drive/channels", 1024, "assumed: as many as there are reads in flight"},
        {"/drive/channel_bytes_per_s", 1e12, "assumed: no limit of its own"},
        {"/drive/capacity_bytes", "100TB", "assumed: more than the media"},
        {"/client/cores", 1, "assumed: one core speaks the protocol; decoding was not measured"},
        {kRequestTime, nullptr, ""},
        {kSeatRate, nullptr, ""},
    };
    return all;
}

bool is_time(const std::string& pointer) {
    return pointer.starts_with(kAccess) || pointer.starts_with(kLineAccess) || pointer == kTripTime ||
           pointer == kJournalLatency || pointer == kOtherLoadLength || pointer == kOtherLoadGap;
}

bool is_count(const std::string& pointer) {
    return pointer == kOpenLines || pointer == kReadLines || pointer == kJournalBytes;
}

OrderedJson number(const std::string& pointer, double value) {
    if (is_time(pointer)) return fmt::format("{:.0f}ns", value);
    if (is_count(pointer)) return static_cast<std::uint64_t>(std::llround(value));
    return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

void put(OrderedJson& document, const std::string& pointer, const OrderedJson& value) {
    document[OrderedJson::json_pointer(pointer)] = value;
}

OrderedJson entry(const CalibratedNumber& value, bool bounds) {
    OrderedJson out;
    out["value"] = number(value.pointer, value.value);
    if (bounds && (value.high || value.low > 0)) out["low"] = number(value.pointer, value.low);
    if (bounds && value.high) out["high"] = number(value.pointer, *value.high);
    out["basis"] = value.basis;
    return out;
}

OrderedJson head(const std::string& name, const std::string& title, const std::string& description) {
    OrderedJson out;
    out["schema"] = "streamsim.storage-model";
    out["version"] = 1;
    out["name"] = name;
    out["title"] = title;
    out["description"] = description;
    return out;
}

void put_numbers(OrderedJson& document,
                 std::uint32_t mtu,
                 const std::vector<CalibratedNumber>& values,
                 bool bounds) {
    document["drive"]["kind"] = "flash";
    for (const Assumption& each : assumptions()) {
        if (!each.value.is_null()) put(document, each.pointer, {{"value", each.value}, {"basis", each.basis}});
    }
    for (const CalibratedNumber& value : values) put(document, value.pointer, entry(value, bounds));
    if (mtu == 0) return;
    put(document, "/network/mtu", {{"value", mtu}, {"basis", "assumed: of the network to the storage"}});
}

OrderedJson correlation_of(const std::vector<std::vector<double>>& matrix,
                           const std::vector<std::string>& numbers) {
    OrderedJson out;
    out["numbers"] = numbers;
    out["matrix"] = OrderedJson::array();
    for (const std::vector<double>& row : matrix) {
        OrderedJson line = OrderedJson::array();
        for (const double value : row)
            line.push_back(std::strtod(fmt::format("{:.4f}", value).c_str(), nullptr));
        out["matrix"].push_back(line);
    }
    return out;
}

OrderedJson held_back_member(const HeldBackCheck& check) {
    OrderedJson out = {{"format", check.measured.format},
                       {"seats", check.measured.seats},
                       {"streams_measured", check.measured.streams},
                       {"predicted", check.predicted},
                       {"low", check.low},
                       {"high", check.high},
                       {"rejected", check.rejected}};
    if (!check.measured.at_least.empty()) out["at_least"] = check.measured.at_least;
    return out;
}

}  // namespace

std::string model_name_of(const std::string& file) {
    std::string name = utf8_text(utf8_path(file).stem());
    for (char& each : name) {
        const bool plain = std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '-' || each == '_';
        if (!plain) each = '-';
    }
    if (name.empty() || std::isalnum(static_cast<unsigned char>(name[0])) == 0) name.insert(0, "m");
    constexpr std::size_t kLongest = 60;
    return name == "null" ? "model-null" : name.substr(0, kLongest);
}

std::string with_ending(const std::string& model, const std::string& ending) {
    const std::string end = ".json";
    return (model.ends_with(end) ? model.substr(0, model.size() - end.size()) : model) + ending;
}

std::string trial_document(const std::string& name,
                           std::uint32_t mtu,
                           const std::vector<CalibratedNumber>& values) {
    OrderedJson document = head(name, name, "");
    document.erase("description");
    put_numbers(document, mtu, values, false);
    return document.dump();
}

std::string calibrated_document(const Calibration& calibration) {
    const Measurement& measured = calibration.measured;
    OrderedJson document =
        head(calibration.name, fmt::format("Calibrated on {}", measured.target),
             fmt::format("Measured from {} seat{} on {}. Numbers with low and high are 90 % intervals; low "
                         "alone: at least so much, as the part was never full.",
                         measured.seats, measured.seats == 1 ? "" : "s", measured.started_at));
    put_numbers(document, measured.mtu, calibration.values, true);
    OrderedJson facts;
    facts["target"] = measured.target;
    facts["measured_at"] = measured.started_at;
    facts["seats"] = measured.seats;
    if (measured.link_bits_per_s > 0) facts["links_bits_per_s"] = measured.link_bits_per_s;
    facts["formats"] = OrderedJson::array();
    if (measured.held_back) facts["formats"].push_back(measured.held_back->format);
    facts["told_apart"] = calibration.told_apart;
    facts["other_load"] = calibration.other_load;
    facts["model_error"] = std::strtod(fmt::format("{:.4f}", calibration.model_error).c_str(), nullptr);
    if (!calibration.correlated.empty())
        facts["correlation"] = correlation_of(calibration.correlation, calibration.correlated);
    if (calibration.held_back && calibration.held_back->tells())
        facts["held_back"] = held_back_member(*calibration.held_back);
    document["calibration"] = facts;
    return json_text(document, 2) + "\n";
}

Result<Calibration> calibration_of_document(const std::string& text,
                                            const std::string& source,
                                            const Measurement& measured) {
    const auto model = sim::read_model_document(text, source);
    if (!model) return model.error();
    if (!model->calibration)
        return bad_input(fmt::format("{}: /calibration: missing: it is no calibrated model", source));
    Calibration out;
    out.measured = measured;
    out.measured.seats = model->calibration->seats;
    out.name = model->name;
    out.document = text;
    out.model_error = model->calibration->model_error;
    out.told_apart = model->calibration->told_apart;
    return out;
}

std::string with_held_back(const std::string& text, const HeldBackCheck& check) {
    if (!check.tells()) return text;
    auto document = OrderedJson::parse(text);
    OrderedJson& facts = document["calibration"];
    facts["held_back"] = held_back_member(check);
    OrderedJson& formats = facts["formats"];  // null where there were none
    const OrderedJson format = check.measured.format;
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) formats.push_back(format);
    return json_text(document, 2) + "\n";
}

}  // namespace streamsim::run
