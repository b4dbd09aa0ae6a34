# Writes the commit that is being built into a source file, at build time, and only when it has changed.
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT REVISION)
    set(REVISION "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"cli/version.h\"
namespace streamsim::cli {
const char* version() { return \"${VERSION}\"; }
const char* revision() { return \"${REVISION}\"; }
}
")
