// Made-up words for the readers of documents that name formats, targets and models.
#pragma once

#include <string>

#include "scenario/need_document.h"
#include "scenario/scenario_document.h"
#include "scenario/workload_document.h"

namespace streamsim::fuzz {

/// Formats whose names begin with "dpx" or "prores"; "sim:..." is a model of 4 nodes with 15 drives each.
inline scenario::ScenarioWords scenario_words() {
    using Kind = scenario::ScenarioTarget::Kind;
    scenario::ScenarioWords words;
    words.format = [](const std::string& name) -> Result<scenario::ScenarioFormat> {
        if (!name.starts_with("dpx") && !name.starts_with("prores"))
            return bad_input("there is no such format");
        MediaFormat format;
        format.name = name;
        return scenario::ScenarioFormat{format, name};
    };
    words.target = [](const std::string& text) -> Result<scenario::ScenarioTarget> {
        if (text.starts_with("/")) return scenario::ScenarioTarget{Kind::files, "files", 0, 0, text};
        if (text == "null:") return scenario::ScenarioTarget{Kind::null, text, 0, 0, ""};
        if (text == "sim:null") return scenario::ScenarioTarget{Kind::null_virtual, text, 0, 0, ""};
        if (text.starts_with("sim:")) return scenario::ScenarioTarget{Kind::model, text, 4, 15, ""};
        return bad_input("there is no such target");
    };
    words.workload = [](const std::string& name) -> Result<Workload> {
        return scenario::read_workload(
            R"({"schema": "streamsim.workload", "version": 1, "name": "w", "duration": "10s",
                "meters": [{"name": "m", "operation": "read", "block": "64KiB", "users": 2,
                            "files": {"count": 2, "bytes": "1MiB"}}]})",
            name);
    };
    words.order = [](const std::string& text) -> Result<void> {
        if (text == "forward" || text == "random" || text == "scrub") return {};
        return bad_input("there is no such order");
    };
    words.error_name = [](const std::string& name) -> Result<void> {
        if (name == "EIO" || name == "ESTALE") return {};
        return bad_input("there is no such error");
    };
    return words;
}

/// Every model is there, and has each number: a time where the pointer ends with "b", a size with "bytes".
inline scenario::NeedWords need_words() {
    scenario::NeedWords words;
    words.scenario = scenario_words();
    words.model = [](const std::string& name) -> Result<void> {
        if (name.empty()) return bad_input("there is no such model");
        return {};
    };
    words.number = [](const std::string&, const std::string& pointer) -> Result<double> {
        if (!pointer.starts_with("/")) return bad_input("there is no number");
        return 4.0;
    };
    words.whole = [](const std::string&, const std::string& pointer) { return pointer.ends_with("s"); };
    words.time = [](const std::string&, const std::string& pointer) { return pointer.ends_with("b"); };
    words.size = [](const std::string&, const std::string& pointer) { return pointer.ends_with("bytes"); };
    words.claim = [](const std::string& text) -> Result<double> {
        if (!text.ends_with("/day")) return bad_input("it is no rate");
        return 1.0;
    };
    return words;
}

}  // namespace streamsim::fuzz
