// Selects the files of a trace that are its actual work.
#pragma once

#include <string>
#include <vector>

#include "profile/traffic/traffic.h"

namespace streamsim::profile {

/// The rule of the selection, as a sentence.
std::string selection_rule(const std::vector<std::string>& only);

/// Leaves only the operations on files that count, and notes how many others there were. `only`: beginnings of
/// paths; empty: files below system directories, what is no regular file, and directories in which hardly
/// anything moves are left out. Questions, lists and changes of names count in the directories where data
/// moves, or everywhere where none does. An open that makes a file which is then written is an open.
void select(Traffic& traffic, const std::vector<std::string>& only);

}  // namespace streamsim::profile
