# Several sources compiled as one: the headers are read and their templates made once for all of them, which takes less
# than half of the processor time of a whole build. Two files that define the same name for themselves alone cannot share
# a batch, so the names are read from the sources: a file goes into the first batch that has none of its names and room.

set(STREAMSIM_BATCH_BYTES 130000)  # about 3,000 lines: 1 GB of memory in GCC, and enough batches for four processors

# Sets `result` to the names that definitions at the start of a line give: functions, types and constants.
function(streamsim_defined_names result file)
    file(STRINGS ${file} lines REGEX "^[A-Za-z]")
    list(FILTER lines EXCLUDE REGEX "^(namespace|template|extern|static_assert|TEST|TYPED_TEST|INSTANTIATE_)")
    set(names "")
    foreach(line IN LISTS lines)
        if(line MATCHES "^(using |enum |enum class |struct |class )([A-Za-z_0-9]+)( =| \\{| :| final|$)")
            list(APPEND names ${CMAKE_MATCH_2})
        elseif(line MATCHES "^[A-Za-z][^(={]*[ *&]([A-Za-z_0-9]+)(\\[[^=]*)?( = | \\{|\\{|\\()")
            list(APPEND names ${CMAKE_MATCH_1})
        endif()
    endforeach()
    # A constant or type of a function would shadow another file's of that name, which the compiler warns of.
    file(STRINGS ${file} lines REGEX "^ +((static )?constexpr [^(={]* k[A-Z]|using [A-Z][A-Za-z]* =)")
    foreach(line IN LISTS lines)
        if(line MATCHES "(constexpr .* |using )([A-Za-z0-9_]+)( =|{|\\[)")
            list(APPEND names ${CMAKE_MATCH_2})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES names)
    list(REMOVE_ITEM names PrintTo)  # GoogleTest's: each file has another type for it
    set(${result} "${names}" PARENT_SCOPE)
endfunction()

# streamsim_batch(<target>): its own sources in batches. Files with options of their own stay alone, as does one that is
# given the property SKIP_UNITY_BUILD_INCLUSION.
function(streamsim_batch target)
    get_target_property(sources ${target} SOURCES)
    set(count 0)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE file)
        cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${file} generated)
        if(generated OR NOT file MATCHES "\\.cc$")
            continue()  # Whether a generated file is there already would change the batches.
        endif()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(STRINGS ${file} kernel_header REGEX "^#include <linux/tcp\\.h>")
        if(kernel_header)  # It defines what <netinet/tcp.h> does, which headers of libraries include.
            set_property(SOURCE ${file} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
            continue()
        endif()
        streamsim_defined_names(names ${file})
        file(SIZE ${file} bytes)
        set(batch 0)
        while(batch LESS count)
            set(common ${names})
            list(REMOVE_ITEM common ${names_${batch}} "")
            math(EXPR sum "${bytes_${batch}} + ${bytes}")
            list(LENGTH names own)
            list(LENGTH common left)
            if(own EQUAL left AND sum LESS_EQUAL STREAMSIM_BATCH_BYTES)
                break()
            endif()
            math(EXPR batch "${batch} + 1")
        endwhile()
        if(batch EQUAL count)
            set(names_${batch} "")
            set(sum ${bytes})
            math(EXPR count "${count} + 1")
        endif()
        list(APPEND names_${batch} ${names})
        set(bytes_${batch} ${sum})
        set_property(SOURCE ${file} PROPERTY UNITY_GROUP batch_${batch})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
