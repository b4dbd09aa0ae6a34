# For another system, from what Debian has for this one: libraries that are headers only, as they are; libuv, NLopt
# and GoogleTest from their sources. OpenEXR and libmicrohttpd are left out; libav is loaded when it is needed and has
# to be there then.
set(LIBUV_SOURCE "" CACHE PATH "The source of libuv")
if(NOT EXISTS ${LIBUV_SOURCE}/include/uv.h)
    message(FATAL_ERROR "LIBUV_SOURCE has to name the source of libuv, as `apt-get source libuv1` gets it")
endif()
set(BUILD_TESTING OFF)
set(LIBUV_BUILD_TESTS OFF)
add_subdirectory(${LIBUV_SOURCE} ${CMAKE_BINARY_DIR}/libuv EXCLUDE_FROM_ALL SYSTEM)
add_library(PkgConfig::LIBUV ALIAS uv_a)
set(NLOPT_SOURCE "" CACHE PATH "The source of NLopt")
if(NOT EXISTS ${NLOPT_SOURCE}/src/api/nlopt.h)
    message(FATAL_ERROR "NLOPT_SOURCE has to name the source of NLopt, as `apt-get source nlopt` gets it")
endif()
set(NLOPT_CXX OFF)
foreach(part PYTHON OCTAVE MATLAB GUILE SWIG TESTS)
    set(NLOPT_${part} OFF)
endforeach()
set(BUILD_SHARED_LIBS OFF)
add_subdirectory(${NLOPT_SOURCE} ${CMAKE_BINARY_DIR}/nlopt EXCLUDE_FROM_ALL SYSTEM)
add_library(PkgConfig::NLOPT ALIAS nlopt)

# A folder of their own: the other headers beside them are this system's.
set(headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name fmt spdlog CLI nlohmann boost libavformat libavcodec libavutil)
    file(GLOB found /usr/include/${name} /usr/include/*/${name})
    if(NOT found)
        message(FATAL_ERROR "The headers of ${name} were not found below /usr/include")
    endif()
    list(GET found 0 found)
    file(CREATE_LINK ${found} ${headers}/${name} SYMBOLIC)
endforeach()
add_library(streamsim_headers INTERFACE)
target_include_directories(streamsim_headers SYSTEM INTERFACE ${headers})
target_compile_definitions(streamsim_headers INTERFACE SPDLOG_FMT_EXTERNAL=1)
# The code of fmt's library, compiled once: in each file it would take half of the time.
set(fmt_source ${CMAKE_BINARY_DIR}/fmt.cc)
file(CONFIGURE OUTPUT ${fmt_source} CONTENT
"#include <fmt/format-inl.h>
template auto fmt::detail::dragonbox::to_decimal(float) noexcept -> decimal_fp<float>;
template auto fmt::detail::dragonbox::to_decimal(double) noexcept -> decimal_fp<double>;
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
")
add_library(streamsim_fmt STATIC ${fmt_source})
target_link_libraries(streamsim_fmt PUBLIC streamsim_headers)
foreach(name fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json CLI11::CLI11 Boost::headers)
    add_library(${name} ALIAS streamsim_fmt)
endforeach()
set(LIBAV_INCLUDE_DIRS ${headers})

if(STREAMSIM_TESTS)
    add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
endif()
