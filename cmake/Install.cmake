# `cmake --install` gives bin/spnn, lib/libspnn.so, headers and a package for find_package(spnn).
include(CMakePackageConfigHelpers)
install(TARGETS spnn EXPORT spnnTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS spnn_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY src/spnn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT spnnTargets NAMESPACE spnn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/spnnConfig.cmake.in ${CMAKE_BINARY_DIR}/spnnConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/spnnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/spnnConfig.cmake ${CMAKE_BINARY_DIR}/spnnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)
