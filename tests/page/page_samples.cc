// Writes hand-made results as JSON and HTML, for the browser to look at: page_samples DIRECTORY.
#include <fstream>
#include <iostream>
#include <string>

#include "report/html/html_report.h"
#include "result/json_report.h"
#include "unit/report/sample_results.h"

namespace {

/// Text that does not end, in every place that takes any.
streamsim::RunResult long_words() {
    streamsim::RunResult result = streamsim::samples::told_in_full();
    const std::string word(200, 'w');
    result.url = "/mnt/" + word;
    result.verdict.reason = result.verdict.detail = word;
    result.command.push_back(word);
    result.notices.push_back(word);
    result.mount->options = word;
    result.causes[0].detail = word;
    for (auto& stream : result.streams) stream.clip = stream.format = word;
    for (auto& drop : result.drops) drop.file = word;
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: page_samples DIRECTORY\n";
        return 2;
    }
    namespace samples = streamsim::samples;
    const struct {
        const char* name;
        streamsim::RunResult result;
    } all[] = {{"told_in_full", samples::told_in_full()},
               {"hostile", samples::hostile()},
               {"interrupted", samples::interrupted()},
               {"long_words", long_words()}};
    for (const auto& each : all) {
        const std::string path = std::string(argv[1]) + "/" + each.name;
        std::ofstream(path + ".json", std::ios::binary) << streamsim::result::json_report(each.result);
        std::ofstream(path + ".html", std::ios::binary) << streamsim::report::html_report(each.result);
    }
}
