# Makefile - the one build of seen (GNU make).
#
#   make                library, command, and every optional part whose packages are here
#   make check          builds, then the tests of library and command: a minute
#   make test           all tests;  make test PARTS="unit cli"  some of them
#   make install        PREFIX=/usr/local DESTDIR= BINDIR= LIBDIR= INCLUDEDIR= MANDIR=;  make uninstall
#   make amalgamation, static           see pack/build.mk
#   make format, lint, coverage, dist   see maintain.mk
#   make SAN=1 BUILD=build/san ...   the same with ASan and UBSan (TSAN=1: threads)
#   make FUZZ=1 CC=clang BUILD=build/fuzz fuzzers   libFuzzer targets (tests/fuzz/fuzz.t)
#
# A room of its own (crawl/, plugins/redis/, ...) brings ROOM/build.mk, which adds to:
#   ALL         files to build by default
#   TESTS       TAP programs and scripts to run (tests/ROOM/*.t scripts are found)
#   TESTS_NEED  other files that must be built before tests run
#   FUZZERS     names of tests/fuzz/fuzz_NAME.c, with FUZZ_OBJ_NAME if they need more
#   BENCHES     files that `make bench` builds
#   INSTALL_BIN, INSTALL_LIB, INSTALL_INC, INSTALL_MAN   files that `make install` copies;
#               what goes elsewhere is an install-NAME that `install` depends on
# and may use $(BUILD), $(LIBSEEN), the pattern rule for objects, and the probes
# `have`, `have-header`, `missing` and `part-skip`. What a probe decides goes into
# CONFIG_ROOM, and $(BUILD)/config/ROOM becomes a prerequisite of what it decides about.

BUILD ?= build
CC ?= cc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter -Wno-missing-field-initializers
STD = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
# Our own programs opt in to what seen.h does not promise to keep.
CPPFLAGS += -Iinclude -DSEEN_UNSTABLE
# No fused multiply-add: the sizes of foreign filters must come out as theirs do.
ALL_CFLAGS = $(STD) $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden -fno-semantic-interposition -ffp-contract=off $(SAN_FLAGS)
ifdef SAN
SAN_FLAGS = -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifdef TSAN
SAN_FLAGS = -fsanitize=thread
endif

ifdef FUZZ
SAN_FLAGS = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
endif

# Where things are once installed; DESTDIR goes before all of them while installing. A
# plugin brings its own, where its server or its people look (REDIS_MODULEDIR, ...).
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man

VERSION := $(shell sed -n 's/^.define SEEN_VERSION "\(.*\)"/\1/p' include/seen.h)
SOVERSION = 0

# ---- probes ---------------------------------------------------------------------
# have MODULE: "yes" if pkg-config knows it.  pkg OPTION MODULES: its answer.
# have-header FILE: "yes" if the preprocessor finds it. (The octal is a number sign, which
# versions of make read differently inside a function.)
# linkable HEADER,LIBRARY: "yes" if the compiler finds both: a cross compiler may see the
# header of another machine's package.
# missing MODULE:PACKAGE...: the Debian packages of those modules that are not here.
# part-skip NAME,PACKAGES: the one clear line for a part that cannot be built here; targets
# that build no part have nothing to say about them.
PKG_CONFIG ?= pkg-config
have = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo yes)
pkg = $(strip $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null))
have-header = $(shell printf '\043include <%s>\n' '$(1)' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -xc - >/dev/null 2>&1 && echo yes)
linkable = $(shell mkdir -p $(BUILD)/config && printf '\043include <%s>\nint main(void) { return 0; }\n' '$(1)' | \
    $(CC) $(CPPFLAGS) $(CFLAGS) -xc - -o $(BUILD)/config/probe.$$$$ $(2) >/dev/null 2>&1 && echo yes; rm -f $(BUILD)/config/probe.$$$$)
missing = $(strip $(foreach p,$(1),$(if $(call have,$(firstword $(subst :, ,$(p)))),,$(lastword $(subst :, ,$(p))))))
PARTLESS = amalgamation static dist clean format
part-skip = $(if $(MUSL)$(and $(MAKECMDGOALS),$(if $(filter-out $(PARTLESS),$(MAKECMDGOALS)),,yes)),,$(info make: $(1) skipped: not installed: $(2)))
ifeq ($(shell command -v $(firstword $(PKG_CONFIG))),)
$(call part-skip,every part that needs a library,pkg-config)
endif

# hiredis speaks TLS in a second library, since 1.0.
ifneq ($(call have,hiredis),)
HIREDIS := yes
HIREDIS_TLS := $(call have,hiredis_ssl)
HIREDIS_PKGS := hiredis $(if $(HIREDIS_TLS),hiredis_ssl)
HIREDIS_FLAGS := $(call pkg,--cflags,$(HIREDIS_PKGS)) $(if $(HIREDIS_TLS),-DSEEN_REDIS_TLS)
HIREDIS_LIBS := $(call pkg,--libs,$(HIREDIS_PKGS))
endif

# ---- library -------------------------------------------------------------------
LIB_SRC := $(sort $(wildcard lib/*/*.c lib/*/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
LIBSEEN = $(BUILD)/libseen.a
LIBSEEN_SO = $(BUILD)/libseen.so.$(SOVERSION)
LIB_LIBS = -lm -lpthread
AMALGAMATION = $(BUILD)/amalgamation
ALL = $(LIBSEEN) $(LIBSEEN_SO) $(BUILD)/libseen.so $(BUILD)/seen.pc
# A pkg-config file for each library; PC_LIBS_name, PC_REQUIRES_name: what else to link.
INSTALL_PC = $(BUILD)/seen.pc
PC_WHAT_seen = Have I seen this before? Bloom filters and what came after them

# ---- command: cli/ is the seen command, corpus/ reads text corpora for it, kit/ is
# what the programs share
KIT_SRC := $(sort $(wildcard kit/*.c))
KIT_OBJ := $(KIT_SRC:%.c=$(BUILD)/obj/%.o)
LIBKIT = $(BUILD)/libkit.a
CLI_SRC := $(sort $(wildcard cli/*.c cli/*/*.c corpus/*.c))
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/obj/%.o)
CLI_LIBS = -lz -lzstd $(LIB_LIBS)
ifneq ($(CLI_SRC),)
ALL += $(BUILD)/seen
INSTALL_BIN += $(BUILD)/seen
endif

# ---- tests ---------------------------------------------------------------------
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
UNIT_BIN := $(UNIT_SRC:tests/%.c=$(BUILD)/tests/%.t)
TESTS += $(UNIT_BIN) $(sort $(wildcard tests/*.t tests/*/*.t))
FUZZERS += $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES += $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))

INSTALL_MAN += $(wildcard docs/man/*.[1-8])

.DEFAULT_GOAL := all
all:
include $(sort $(wildcard */build.mk */*/build.mk))
all: $(ALL)

# ---- configuration --------------------------------------------------------------
# $(BUILD)/config/NAME holds the text of CONFIG_NAME and changes only when that does:
# whatever was built with another compiler, other flags, packages or sources is then
# built again, and nothing else.
CONFIG_cc := $(CC) $(shell $(CC) -dumpmachine 2>&1) $(shell $(CC) -dumpversion 2>&1) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(LIB_LIBS)
CONFIG_lib := $(LIB_OBJ)
CONFIG_kit := $(KIT_OBJ)
CONFIG_cli := $(CLI_OBJ) $(CLI_LIBS)
CONFIG_prefix := $(PREFIX) $(LIBDIR) $(INCLUDEDIR)
# Compared while make reads this, so that `make -n` and `make -q` tell the truth.
configure = $(shell mkdir -p $(BUILD)/config && cd $(BUILD)/config && \
    printf '%s\n' '$(subst ','\'',$(subst $(BUILD)/,,$(CONFIG_$(1))))' >$(1).$$$$ && \
    if cmp -s $(1).$$$$ $(1); then rm $(1).$$$$; else mv $(1).$$$$ $(1); fi)
ifneq ($(MAKECMDGOALS),clean)
$(foreach v,$(filter CONFIG_%,$(.VARIABLES)),$(call configure,$(v:CONFIG_%=%)))
endif

$(BUILD)/obj/%.o: %.c $(BUILD)/config/cc
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

# Inside the library, headers are found by layer: #include "base/bytes.h".
$(LIB_OBJ): CPPFLAGS += -Ilib
$(CLI_OBJ): CPPFLAGS += -I. -Icli -Ikit
$(KIT_OBJ): CPPFLAGS += -Ilib
# gcc gathers words in vector registers to store them at once: 7% slower lookups.
$(BUILD)/obj/lib/kind/ribbon_x86.o: ALL_CFLAGS += -fno-tree-slp-vectorize

$(LIBSEEN): $(LIB_OBJ) $(BUILD)/config/lib
	@rm -f $@
	$(AR) rcs $@ $(LIB_OBJ)

$(LIBKIT): $(KIT_OBJ) $(BUILD)/config/kit
	@rm -f $@
	$(AR) rcs $@ $(KIT_OBJ)

$(LIBSEEN_SO): $(LIB_OBJ) $(BUILD)/config/lib lib/libseen.map
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libseen.so.$(SOVERSION) -Wl,--version-script=lib/libseen.map -o $@ $(LIB_OBJ) $(LIB_LIBS)

$(BUILD)/libseen.so: $(LIBSEEN_SO)
	ln -sf $(<F) $@

# Made again when another PREFIX is given than last time: `make` and then
# `make install PREFIX=...` is the usual way.
$(BUILD)/%.pc: pack/pkgconfig.in include/seen.h $(BUILD)/config/prefix
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@NAME@|$*|' \
	    -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
	    -e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' \
	    -e 's|@WHAT@|$(PC_WHAT_$*)|' -e 's|@REQUIRES@|$(PC_REQUIRES_$*)|' \
	    -e 's|@LIBS@|$(PC_LIBS_$*)|' $< > $@

$(BUILD)/seen: $(CLI_OBJ) $(LIBKIT) $(LIBSEEN) $(BUILD)/config/cli
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(CLI_OBJ) $(LIBKIT) $(LIBSEEN) $(CLI_LIBS)

$(BUILD)/tests/unit/%.t: tests/unit/%.c $(LIBSEEN) $(LIBKIT) tests/tap.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Ilib -Ikit -Itests -MMD -MP -MF $@.d -MT $@ $(LDFLAGS) -o $@ $< $(LIBKIT) $(LIBSEEN) $(CLI_LIBS)

# Peers: packaged filters beside ours.
BENCH_LIBS_filter_speed = $(BUILD)/bench/leveldb_peer.o -lbloom -lleveldb -lstdc++
$(BUILD)/bench/filter_speed: $(BUILD)/bench/leveldb_peer.o
$(BUILD)/bench/leveldb_peer.o: bench/leveldb_peer.cc $(BUILD)/config/cc
	@mkdir -p $(@D)
	$(CXX) -O2 -c $< -o $@

$(BUILD)/bench/%: bench/%.c $(LIBSEEN) $(LIBKIT)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Ikit $(LDFLAGS) -o $@ $< $(LIBKIT) $(LIBSEEN) $(BENCH_LIBS_$(@F)) $(CLI_LIBS)

# Fuzz targets: with the library, the kit, and $(FUZZ_OBJ_name) of the target's room.
FUZZ_BIN = $(FUZZERS:%=$(BUILD)/fuzz/%)
.SECONDEXPANSION:
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(LIBSEEN) $(LIBKIT) $$(FUZZ_OBJ_$$*)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -fsanitize=fuzzer -Ilib -Ikit -Icrawl -I. -Iplugins/redis -o $@ $< $(FUZZ_OBJ_$*) $(LIBKIT) $(LIBSEEN) $(FUZZ_LIBS_$*) $(CLI_LIBS)
fuzzers: $(FUZZ_BIN)
	@echo $(FUZZERS)

# PARTS picks tests by folder: unit, cli, crawl, ... They run side by side (JOBS of them),
# the longest first, so that none of these is alone at the end.
PARTS ?=
LONG = $(addprefix tests/,bare.t pack/packages_install_and_work.t container.t fuzz/fuzz.t bigendian.t arm.t \
	crawl/many_workers.t dedup/same_for_all_threads.t crawl/kill_and_resume.t dedup/as_the_reference.t)
PICKED = $(if $(strip $(PARTS)),$(foreach p,$(PARTS),$(filter tests/$(p)/% tests/$(p).t $(BUILD)/tests/$(p)/%,$(TESTS))),$(TESTS))
ORDERED = $(foreach t,$(LONG),$(filter $(t),$(PICKED))) $(filter-out $(LONG),$(PICKED))
.PHONY: all test check bench fuzzers tests-built install clean
tests-built: all $(filter $(BUILD)/%,$(TESTS)) $(TESTS_NEED)
# Filters made by the commands have one seed, so that a run can be repeated;
# SEEN_SEED=N runs with another.
SEEN_SEED ?= 1
# Those that build in one folder run one after the other.
RULES = --rules 'seq=tests/{sanitize,python/under_sanitizers}.t' \
	--rules 'seq=tests/{lint,readme,install,guard/documented_examples_run}.t' --rules 'par=**'
prove = @BUILD=$(BUILD) SEEN_SEED=$(SEEN_SEED) PATH="$(abspath $(BUILD)):$$PATH" tests/prove --timer $(RULES) $(PROVE_FLAGS) $(ORDERED)
test: tests-built
	$(prove)

# The loop of a developer: the library and the command, in a minute.
check: PARTS = unit cli layers
check: all $(UNIT_BIN)
	$(prove)

bench: $(BENCHES)

install: all
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man1)
	install -m 644 $(LIBSEEN) $(INSTALL_LIB) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBSEEN_SO) $(DESTDIR)$(LIBDIR)/libseen.so.$(VERSION)
	ln -sf libseen.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libseen.so.$(SOVERSION)
	ln -sf libseen.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libseen.so
	install -m 644 include/seen.h include/seen_bitmap.h include/seen_sketch.h include/seen_unstable.h $(INSTALL_INC) $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(INSTALL_PC) $(DESTDIR)$(LIBDIR)/pkgconfig
	$(if $(INSTALL_BIN),install -m 755 $(INSTALL_BIN) $(DESTDIR)$(BINDIR))
	$(foreach m,$(INSTALL_MAN),install -m 644 $(m) $(DESTDIR)$(MANDIR)/man$(lastword $(subst ., ,$(m)))/;)
	$(if $(DESTDIR),,@$(tell-loader))

# Programs find libseen.so.0 where the loader looks for it. In other folders, and without
# the right to tell the loader, that is for whoever links them.
tell-loader = PATH="$$PATH:/usr/sbin:/sbin"; ldconfig 2>/dev/null; \
	ldconfig -p 2>/dev/null | grep -q ' $(LIBDIR)/libseen.so.$(SOVERSION)$$' || \
	echo 'make: the loader does not look into $(LIBDIR): link programs with -Wl,-rpath,$(LIBDIR), or set LD_LIBRARY_PATH'

clean:
	rm -rf $(BUILD)

include maintain.mk

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
