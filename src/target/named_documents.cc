#include "target/named_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/system/utf8_path.h"

namespace streamsim::target {

bool names_a_file(const std::string& typed) {
    return typed.find('/') != std::string::npos || typed.ends_with(".json");
}

std::string document_names(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entries(utf8_path(directory), error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") names.push_back(entries->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace streamsim::target
