#include "target/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/document/problems.h"
#include "base/system/core_dumps.h"

namespace streamsim::target {
namespace {

Result<void> read_lines(const std::string& name, const std::string& text, Credentials& into) {
    const std::pair<const char*, std::string*> known[] = {
        {"username", &into.user}, {"password", &into.password}, {"domain", &into.domain}};
    ProblemList problems(name);
    std::istringstream lines(text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.empty() || line.front() == '#') continue;
        const std::string key = line.substr(0, line.find('='));
        std::string* value = nullptr;
        for (const auto& [each, place] : known) {
            if (key == each && key.size() < line.size()) value = place;
        }
        if (value != nullptr) {
            *value = line.substr(key.size() + 1);
        } else {
            problems.add(fmt::format("{}:{}: expected username=, password= or domain=", name, number));
        }
    }
    if (!problems.empty()) return problems.error();
    return {};
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace

Result<Credentials> find_credentials(const Target& target, const std::string& file) {
    if (!target.remote || target.remote->protocol != RemotePlace::Protocol::smb) return Credentials{};
    Credentials found{variable("STREAMSIM_SMB_USER"), variable("STREAMSIM_SMB_DOMAIN"),
                      variable("STREAMSIM_SMB_PASSWORD")};
    const std::string name = !file.empty() ? file : variable("STREAMSIM_SMB_CREDENTIALS");
    if (!name.empty() || !found.password.empty()) forbid_core_dumps();  // before the password is in memory
    if (!name.empty()) {
        const auto text = read_secret(name);
        if (!text) return text.error();
        if (auto read = read_lines(name, *text, found); !read) return read.error();
    }
    if (!target.remote->user.empty()) found.user = target.remote->user;
    if (!target.remote->domain.empty()) found.domain = target.remote->domain;
    return found;
}

}  // namespace streamsim::target
