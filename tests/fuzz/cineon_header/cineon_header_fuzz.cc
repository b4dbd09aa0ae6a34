// The header of a Cineon file.
#include "fuzz/image_checks.h"

STREAMSIM_FUZZ(cineon_header) {
    streamsim::fuzz::check_image(input, streamsim::media::ImageKind::cineon, "frame.0001.cin");
}
