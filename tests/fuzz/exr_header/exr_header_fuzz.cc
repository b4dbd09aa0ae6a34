// The header of an OpenEXR file.
#include "fuzz/image_checks.h"

STREAMSIM_FUZZ(exr_header) {
    streamsim::fuzz::check_image(input, streamsim::media::ImageKind::exr, "frame.0001.exr");
}
