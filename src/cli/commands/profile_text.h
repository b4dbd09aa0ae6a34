// The findings of `profile`, for people and as a document.
#pragma once

#include <string>
#include <vector>

#include "profile/learning/fit.h"
#include "profile/learning/learn.h"

namespace streamsim::cli {

struct ProfileFindings {
    profile::Profile profile;
    std::vector<profile::Fit> fits;  // by meter
    std::string source, recorder;
    std::string rule;  // which files count
    std::vector<std::string> notes;
    std::uint64_t files = 0;
};

std::string profile_text(const ProfileFindings& found);
/// Schema streamsim.profile, version 1.
std::string profile_json(const ProfileFindings& found);

}  // namespace streamsim::cli
