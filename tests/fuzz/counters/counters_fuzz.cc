// Counters that a command printed: two readings, with a line of 0x01 between them.
#include <cmath>

#include "fuzz/fuzz.h"
#include "run/process/counters.h"

STREAMSIM_FUZZ(counters) {
    using namespace streamsim;
    using fuzz::require;
    const std::string_view text = fuzz::text_of(input);
    const std::size_t middle = std::min(text.find('\x01'), text.size());
    const auto before = run::read_counters(text.substr(0, middle));
    const auto after = run::read_counters(text.substr(std::min(middle + 1, text.size())));
    for (const auto* reading : {&before, &after}) {
        if (!*reading) {
            require(reading->error().kind == ErrorKind::environment && !reading->error().problems.empty(),
                    "a reason");
            continue;
        }
        require(!(*reading)->counters.empty(), "a reading has counters");
        for (const run::Counter& counter : (*reading)->counters)
            require(!counter.name.empty() && std::isfinite(counter.value), "a counter is a number with a name");
    }
    if (!before || !after) return;
    const std::size_t both = run::changes_between(*before, *after).size();
    const std::size_t one = run::not_in_both(*before, *after).size();
    require(2 * both + one == before->counters.size() + after->counters.size(),
            "each counter is in both or in one");
}
