# pack/build.mk - how people get it, beside `make install`: the files that CMake asks for.

# ---- find_package(seen) ---------------------------------------------------------
CMAKE_FILES = $(BUILD)/seen-config.cmake $(BUILD)/seen-config-version.cmake
ALL += $(CMAKE_FILES)
$(BUILD)/seen-config.cmake: pack/cmake-config.in
$(BUILD)/seen-config-version.cmake: pack/cmake-version.in
$(CMAKE_FILES): include/seen.h $(BUILD)/config/prefix
	@mkdir -p $(@D)
	sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' \
	    -e "s|@TO_INCLUDE@|$$(realpath -m --relative-to='$(LIBDIR)' '$(INCLUDEDIR)')|" $(filter %.in,$^) >$@
.PHONY: install-cmake
install: install-cmake
install-cmake: $(CMAKE_FILES)
	install -d $(DESTDIR)$(LIBDIR)/cmake/seen
	install -m 644 $(CMAKE_FILES) $(DESTDIR)$(LIBDIR)/cmake/seen
