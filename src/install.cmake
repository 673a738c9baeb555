# The installed package: headers, library, tool, and what lets others find them (attn::attn for CMake, attn for pkg-config).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attn)

target_include_directories(attn PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH from_tool_to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(attn_tool PROPERTIES INSTALL_RPATH $ORIGIN/${from_tool_to_library})
endif()
install(TARGETS attn EXPORT attn)
install(TARGETS attn_tool)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 FILES_MATCHING PATTERN "*.5")
set(completions ${CMAKE_CURRENT_LIST_DIR}/cli/completions)
install(FILES ${completions}/attn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attn)
install(FILES ${completions}/_attn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completions}/attn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/attn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT attn NAMESPACE attn:: FILE attn-targets.cmake DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/attn-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/attn-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 the interface may change with the minor version.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/attn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/attn-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/attn-config-version.cmake
  DESTINATION ${package_dir})

# Relative, so that the tree may be installed elsewhere or moved.
file(RELATIVE_PATH from_pkgconfig_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(requires "libutf8proc, jansson")
if(FONTCONFIG_FOUND)
  string(APPEND requires ", fontconfig")
endif()
set(libs "-lm")
if(OpenMP_C_FOUND)
  string(APPEND libs " ${OpenMP_C_FLAGS}")
endif()
# A shared library brings along what it needs. A static one leaves that to whoever links it, who need not know that it is static.
if(BUILD_SHARED_LIBS)
  set(private .private)
  set(private_libs ${libs})
else()
  set(public_libs " ${libs}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/attn.pc.in ${CMAKE_CURRENT_BINARY_DIR}/attn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/attn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
