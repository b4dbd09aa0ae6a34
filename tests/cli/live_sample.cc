// Draws a run that never changes on the terminal until it gets a q: for golden screens under tmux. It draws now
// and then, as the program does, to see a resize; no test counts its draws.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "unit/report/sample_view.h"
#include "view/live_view.h"

using namespace streamsim;

int main(int argc, char** argv) {
    const int streams = argc > 1 ? std::atoi(argv[1]) : 1;
    view::LiveView live(1, 0, false);
    for (;;) {
        for (const view::Key key : live.typed()) {
            if (key == view::Key::quit) return 0;
        }
        live.draw(samples::live_view(static_cast<std::size_t>(streams)));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}
