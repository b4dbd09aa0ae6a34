// random_worlds: plays worlds by chance and checks every invariant of the documents after each.
//
//   random_worlds                      200 seeds that nobody has played before
//   random_worlds --seed N             one world, with a full account; --steps 3,0,2 makes it smaller first
//   random_worlds --from N --seeds N   seeds N, N + 1, ...
//   random_worlds --seconds S          ends after so long
//   random_worlds --jobs N             in so many processes
//   random_worlds --reduce S           makes a failing world smaller for at most so many seconds (30)
//   random_worlds --keep-going         goes on after a failing seed, and tells each
//   random_worlds --list               the invariants
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "worlds/invariants.h"
#include "worlds/trial.h"

namespace streamsim::worlds {
namespace {

struct Options {
    Hunt hunt;
    std::optional<std::uint64_t> seed;
    Reduction steps;
    double reduce_seconds = 30;
    bool list = false;
};

std::uint64_t number_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        fmt::print(stderr, "'{}': expected a whole number\n", text);
        std::exit(2);
    }
    return value;
}

Reduction steps_of(std::string_view text) {
    Reduction steps;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        steps.push_back(number_of(text.substr(0, comma)));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return steps;
}

Options read(int argc, char** argv) {
    Options options;
    // Seeds that nobody has played before: the time in milliseconds.
    options.hunt.from = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                       std::chrono::system_clock::now().time_since_epoch())
                                                       .count());
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--keep-going") {
            options.hunt.keep_going = true;
            continue;
        }
        if (option == "--list") {
            options.list = true;
            continue;
        }
        if (i + 1 == argc) {
            fmt::print(stderr,
                       "{}: expected --seed N, --steps N,N,..., --seeds N, --from N, --seconds S, --jobs N, "
                       "--keep-going or --list\n",
                       option);
            std::exit(2);
        }
        const std::string_view value = argv[++i];
        if (option == "--seed")
            options.seed = number_of(value);
        else if (option == "--steps")
            options.steps = steps_of(value);
        else if (option == "--seeds")
            options.hunt.seeds = number_of(value);
        else if (option == "--from")
            options.hunt.from = number_of(value);
        else if (option == "--seconds")
            options.hunt.seconds_max = static_cast<double>(number_of(value));
        else if (option == "--reduce")
            options.reduce_seconds = static_cast<double>(number_of(value));
        else if (option == "--jobs")
            options.hunt.jobs = static_cast<std::uint32_t>(number_of(value));
        else {
            fmt::print(stderr, "{}: no such option\n", option);
            std::exit(2);
        }
    }
    return options;
}

std::string command_of(std::uint64_t seed, const Reduction& steps) {
    if (steps.empty()) return fmt::format("random_worlds --seed {}", seed);
    return fmt::format("random_worlds --seed {} --steps {}", seed, fmt::join(steps, ","));
}

/// One world with all that is known of it.
int play_one(const Library& library, std::uint64_t seed, const Reduction& steps) {
    const RandomWorld world = reduced(library, seed, steps);
    fmt::print("{}", describe(world));
    std::fflush(stdout);
    std::string account;
    const std::vector<std::string> wrong = check_world(world, &account);
    fmt::print("{}", account);
    for (const std::string& text : wrong) fmt::print("FAILS {}\n", text);
    if (wrong.empty()) fmt::print("all {} invariants hold\n", invariants().size());
    return wrong.empty() ? 0 : 1;
}

int play_many(const Library& library, const Hunt& what, double reduce_seconds) {
    fmt::print("seeds {} to {}\n", what.from, what.from + what.seeds - 1);
    std::fflush(stdout);
    const HuntResult found = hunt(library, what);
    fmt::print("{} worlds in {:.1f} s: {:.0f} a minute; {} failed\n", found.played, found.seconds,
               static_cast<double>(found.played) * 60 / std::max(found.seconds, 1e-3), found.caught.size());
    if (found.caught.empty()) return 0;
    const Caught& first = found.caught.front();
    fmt::print("FAILS: seed {}: {}\n", first.seed, first.what);
    fmt::print("repeat: {}\n", command_of(first.seed, {}));
    if (what.keep_going) return 1;
    std::fflush(stdout);
    const Reduction steps = reduce(library, first.seed, reduce_seconds);
    fmt::print("the smallest world that fails so:\n{}", describe(reduced(library, first.seed, steps)));
    fmt::print("repeat: {}\n", command_of(first.seed, steps));
    return 1;
}

}  // namespace
}  // namespace streamsim::worlds

int main(int argc, char** argv) {
    using namespace streamsim::worlds;
    const Options options = read(argc, argv);
    if (options.list) {
        for (const Invariant& each : invariants())
            fmt::print("{}: {} ({})\n", each.name, each.statement, each.stated_in);
        return 0;
    }
    const Library library = Library::load();
    return options.seed ? play_one(library, *options.seed, options.steps)
                        : play_many(library, options.hunt, options.reduce_seconds);
}
