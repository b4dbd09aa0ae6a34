#include "run/target.h"

#include <fmt/format.h>

namespace streamsim {

Result<Target> parse_target(const std::string& text) {
    if (text.empty()) return bad_input("TARGET is empty: expected a directory, a clip or a URL");
    if (text == "null:") return Target{Target::Kind::null, text, {}};
    if (text == "sim:null") return Target{Target::Kind::null_virtual, text, {}};
    if (text.starts_with("file:")) {
        std::string path = text.substr(5);
        if (path.starts_with("//")) {
            const auto slash = path.find('/', 2);
            const std::string host = path.substr(2, slash == std::string::npos ? slash : slash - 2);
            if (slash == std::string::npos || (!host.empty() && host != "localhost")) {
                return bad_input(fmt::format("'{}': a file: URL names a path here: file:///mnt/media", text));
            }
            path = path.substr(slash);
        }
        if (path.empty()) return bad_input(fmt::format("'{}' names no path", text));
        return Target{Target::Kind::local, text, path};
    }
    for (const char* scheme : {"nfs:", "smb:", "sim:", "null:", "http:", "https:", "ftp:"}) {
        if (!text.starts_with(scheme)) continue;
        return bad_input(
            fmt::format("'{}': this streamsim has no storage for it: expected a path, file:PATH, null: or "
                        "sim:null (a mounted share is a path)",
                        text));
    }
    return Target{Target::Kind::local, text, text};
}

}  // namespace streamsim
