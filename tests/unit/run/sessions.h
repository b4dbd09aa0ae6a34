// Runs of one process on a target, as the command line starts them.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "media/catalogue/catalogue.h"
#include "run/session/session.h"

namespace streamsim::test {

/// 4 seconds of formats that come with the program.
inline run::PlayRequest request_on(const std::string& url, std::initializer_list<const char*> formats) {
    run::PlayRequest request;
    request.target = *target::parse_target(url);
    const auto catalogue = media::Catalogue::load(std::string(STREAMSIM_SOURCE_DIR) + "/formats/media");
    for (const char* format : formats) request.formats.push_back(*catalogue->find(format));
    request.duration = seconds(4);
    return request;
}

inline RunResult result_of(const run::PlayRequest& request) {
    run::Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    auto result = session.execute();
    EXPECT_TRUE(result.has_value());
    return *result;
}

}  // namespace streamsim::test
