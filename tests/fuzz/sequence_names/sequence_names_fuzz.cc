// The names in a directory, a line each, grouped into sequences; and each as a pattern that a user typed.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "media/clips/clip_index.h"
#include "media/image/image_header.h"
#include "media/sequence/sequence_names.h"

namespace streamsim::fuzz {
namespace {

void check_sequences(const std::set<std::string>& listed) {
    const std::vector<std::string_view> names(listed.begin(), listed.end());
    std::set<std::string> found;
    for (const media::FoundSequence& sequence : media::group_sequences(names)) {
        require(!sequence.numbers.empty(), "a sequence has frames");
        require(std::adjacent_find(sequence.numbers.begin(), sequence.numbers.end(), std::greater_equal<>()) ==
                    sequence.numbers.end(),
                "the numbers of a sequence rise");
        require(sequence.other_case.empty() || sequence.other_case.size() == sequence.numbers.size(),
                "each frame has its case");
        require(sequence.names.empty() || sequence.names.size() == sequence.numbers.size(),
                "each frame has its name");
        for (std::size_t i = 0; i < sequence.numbers.size(); ++i) {
            const std::string name = sequence.name(i);
            require(listed.contains(name), "the name of a frame is a name of the directory: " + name);
            require(found.insert(name).second, "a name is in one sequence: " + name);
            require(media::index_of_name(sequence, name) == i, "a frame is found by its name: " + name);
        }
    }
}

void check_pattern(std::string_view name) {
    (void)media::image_kind(name);
    (void)media::is_container_name(std::string(name));
    (void)media::is_pattern(name);
    const auto pattern = media::parse_pattern(name);
    if (!pattern) return;
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{123456}})
        require(media::number_in(*pattern, pattern->name(number)) == number,
                "a pattern reads the names that it makes");
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(sequence_names) {
    using namespace streamsim;
    std::set<std::string> listed;
    for (fuzz::Taker taker(input); !taker.empty() && listed.size() < 300;) {
        const std::string_view line = taker.line().substr(0, 255);
        // A file system gives neither of these.
        if (line.empty() || line.find('\0') != std::string_view::npos ||
            line.find('/') != std::string_view::npos)
            continue;
        fuzz::check_pattern(line);
        listed.emplace(line);
    }
    fuzz::check_sequences(listed);
}
