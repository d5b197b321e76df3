# pack/build.mk - how people get it, beside `make install`.
#
#   make amalgamation     dist/seen.c and dist/seen.h: the library in two files (DIST=FOLDER)

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

# ---- two files ------------------------------------------------------------------
# In the order of the layers, so that the file reads upward as the tree does.
DIST ?= dist
LIB_LAYERS = base hash sketch kind foreign filter
.PHONY: amalgamation
amalgamation: $(DIST)/seen.c $(DIST)/seen.h
	@echo $^
$(DIST)/seen.c: pack/amalgamate LICENSE $(LIB_SRC) $(wildcard lib/*/*.h) include/seen.h
	@mkdir -p $(@D)
	@pack/amalgamate $(VERSION) LICENSE $(foreach l,$(LIB_LAYERS),$(filter lib/$(l)/%,$(LIB_SRC))) >$@.new && mv $@.new $@
$(DIST)/seen.h: include/seen.h
	@mkdir -p $(@D)
	@cp $< $@
