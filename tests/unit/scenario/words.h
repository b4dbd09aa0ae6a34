// Made-up formats and targets for reading scenarios.
#pragma once

#include <string>

#include "scenario/scenario_document.h"

namespace streamsim::test {

/// Formats whose names begin with "dpx" or "prores", orders "forward", "random" and "scrub", errors "EIO" and
/// "ESTALE". "sim:h500..." is a model of 4 nodes with 15 drives each, "sim:null" and "null:" are what they are,
/// anything else that begins with "/" is files, each name a place of its own. Every word is a workload.
inline scenario::ScenarioWords words() {
    using Kind = scenario::ScenarioTarget::Kind;
    scenario::ScenarioWords words;
    words.format = [](const std::string& name) -> Result<scenario::ScenarioFormat> {
        if (!name.starts_with("dpx") && !name.starts_with("prores")) return bad_input("no such format");
        MediaFormat format;
        format.name = name;
        return scenario::ScenarioFormat{format, name};
    };
    words.target = [](const std::string& text) -> Result<scenario::ScenarioTarget> {
        if (text.starts_with("/")) return scenario::ScenarioTarget{Kind::files, "real files", 0, 0, text};
        if (text == "null:") return scenario::ScenarioTarget{Kind::null, text};
        if (text == "sim:null") return scenario::ScenarioTarget{Kind::null_virtual, text};
        if (text.starts_with("sim:")) return scenario::ScenarioTarget{Kind::model, text, 4, 15};
        return bad_input("no such target");
    };
    words.workload = [](const std::string&) -> Result<Workload> { return Workload{}; };
    words.order = [](const std::string& text) -> Result<void> {
        if (text == "forward" || text == "random" || text == "scrub") return {};
        return bad_input("no such order");
    };
    words.error_name = [](const std::string& name) -> Result<void> {
        if (name == "EIO" || name == "ESTALE") return {};
        return bad_input("no such error");
    };
    return words;
}

}  // namespace streamsim::test
