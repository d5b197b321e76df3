# pack/build.mk - how people get it, beside `make install`.
#
#   make amalgamation     dist/seen.c and dist/seen.h: the library in two files, and
#                         seen_sketch.h for programs that use sketches (DIST=FOLDER)
#   make static           dist/seen: the command in one file that needs no library (musl-gcc)
#   make abi              pack/abi/libseen-VERSION.abi, the binary interface of a release

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
# In the order of the layers, so that the file reads upward as the tree does. (Where they
# are made is set in the Makefile, for bindings/wasm to name it.)
DIST ?= dist
LIB_LAYERS = base hash sketch kind foreign filter
.PHONY: amalgamation
amalgamation: $(AMALGAMATION)/seen.c $(AMALGAMATION)/seen.h $(AMALGAMATION)/seen_sketch.h
	@mkdir -p $(DIST)
	@cp $^ $(DIST)
	@echo $(DIST)/seen.c $(DIST)/seen.h $(DIST)/seen_sketch.h
$(AMALGAMATION)/seen.c: pack/amalgamate LICENSE $(LIB_SRC) $(wildcard lib/*/*.h lib/*/*/*.h) $(wildcard include/*.h) $(BUILD)/config/lib
	@mkdir -p $(@D)
	@pack/amalgamate $(VERSION) LICENSE $(foreach l,$(LIB_LAYERS),$(filter lib/$(l)/%,$(LIB_SRC))) >$@.new && mv $@.new $@
$(AMALGAMATION)/seen_sketch.h: include/seen_sketch.h
	@mkdir -p $(@D)
	@cp $< $@
$(AMALGAMATION)/seen.h: include/seen.h include/seen_bitmap.h include/seen_unstable.h
	@mkdir -p $(@D)
	@sed -e '/^.include "seen_bitmap.h"/ { r include/seen_bitmap.h' -e 'd }' \
		-e '/^.include "seen_unstable.h"/ { r include/seen_unstable.h' -e 'd }' $< >$@.new && mv $@.new $@

# ---- one static file --------------------------------------------------------------
# musl-gcc knows its own headers and library only: those of the compression libraries are
# taken from where the usual compiler finds them, headers and static archives one by one. A
# library that is not here is left out, as everywhere; so is the Redis client, since hiredis
# uses tables of glibc.
STATIC_CC ?= musl-gcc
STATIC_CFLAGS ?= -O2
STATIC = $(BUILD)/static
STATIC_HEADERS = xxhash.h zlib.h zconf.h zstd.h zstd_errors.h bzlib.h lzma.h lzma lz4frame.h libdeflate.h
STATIC_LIBS = z zstd bz2 lzma lz4 deflate xxhash
header-of = $(shell printf '\043include <%s>\n' '$(1)' | $(CC) -E -xc - 2>/dev/null | sed -n 's|^. 1 "\(.*/$(1)\)".*|\1|p' | head -n 1)
.PHONY: static
static:
	@command -v $(STATIC_CC) >/dev/null || { echo 'make: static needs $(STATIC_CC): install musl-tools' >&2; exit 1; }
	@rm -rf $(STATIC)/sys && mkdir -p $(STATIC)/sys/lib $(DIST)
	@$(foreach h,$(STATIC_HEADERS),for f in '$(call header-of,$(h))' $(dir $(call header-of,xxhash.h))$(h); do \
	    [ ! -e "$$f" ] || ln -sfn "$$f" $(STATIC)/sys/$(h); done;)
	@$(foreach l,$(STATIC_LIBS),[ ! -e $$($(CC) -print-file-name=lib$(l).a) ] || ln -sf $$($(CC) -print-file-name=lib$(l).a) $(STATIC)/sys/lib/;)
	@$(MAKE) -s CC=$(STATIC_CC) MUSL=1 BUILD=$(STATIC) PKG_CONFIG=false CFLAGS='$(STATIC_CFLAGS) -isystem $(abspath $(STATIC)/sys) -L$(abspath $(STATIC)/sys/lib)' \
	    LDFLAGS='-static -Wl,-z,stack-size=8388608' $(STATIC)/seen
	@strip -o $(DIST)/seen $(STATIC)/seen
	@ls -l $(DIST)/seen
# The archives were compiled with another libc's headers.
ifdef MUSL
$(BUILD)/seen: $(BUILD)/obj/pack/checked_calls.o
# (Debian 13's lz4 calls the hash library, which ours has compiled in.)
CLI_LIBS += $(BUILD)/obj/pack/checked_calls.o $(wildcard $(BUILD)/sys/lib/libxxhash.a)
endif

# ---- the binary interface of a release ---------------------------------------------
# Written once for a release and committed; tests/pack/abi_only_grows.t compares with the
# newest one.
.PHONY: abi
abi: $(LIBSEEN_SO)
	abidw --exported-interfaces-only --headers-dir include --drop-private-types --drop-undefined-syms --no-corpus-path \
	    --no-comp-dir-path --no-show-locs --no-parameter-names $< >$(BUILD)/libseen-$(VERSION).abi
	mv $(BUILD)/libseen-$(VERSION).abi pack/abi/
