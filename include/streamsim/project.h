// The project that a result belongs to, as its user names it: on every page and in every document.
#pragma once

#include <string>

#include "streamsim/fields.h"

namespace streamsim {

/// A text that the user did not give is empty.
struct Project {
    std::string title, client, note;
    std::string logo;  // an image as a data URI ("data:image/png;base64,...")

    bool is_named() const { return !title.empty() || !client.empty() || !note.empty() || !logo.empty(); }
};
void fields(ConstOr<Project> auto& project, auto& visit) {
    visit("title", project.title);
    visit("client", project.client);
    visit("note", project.note);
    visit("logo", project.logo);
}

}  // namespace streamsim
