# build.mk - seen-crawl, run by `seen crawl`.
CRAWL_PKGS = libcurl libidn2 libpsl zlib libbrotlidec libzstd
CRAWL_MISSING := $(call missing,libcurl:libcurl4-openssl-dev libidn2:libidn2-dev libpsl:libpsl-dev zlib:zlib1g-dev libbrotlidec:libbrotli-dev libzstd:libzstd-dev hiredis:libhiredis-dev)
CRAWL_SRC := $(sort $(wildcard crawl/*.c crawl/*/*.c))
CRAWL_OBJ := $(CRAWL_SRC:%.c=$(BUILD)/obj/%.o)
# What fuzz targets and unit tests of single parts link.
CRAWL_PARTS := $(filter-out %/crawl_main.o,$(CRAWL_OBJ))

$(CRAWL_OBJ): CPPFLAGS += -Icrawl -Ikit -Iremote
FUZZ_OBJ_html = $(addprefix $(BUILD)/obj/crawl/,page/page.o page/html.o page/charref.o page/charset.o)
FUZZ_OBJ_robots = $(BUILD)/obj/crawl/page/robots.o
FUZZ_OBJ_http = $(addprefix $(BUILD)/obj/crawl/,net/unpack.o net/fetch.o)
FUZZ_LIBS_http = -lbrotlidec
FUZZ_OBJ_sitemap = $(addprefix $(BUILD)/obj/crawl/,page/sitemap.o page/html.o page/charref.o)

ifeq ($(CRAWL_MISSING),)
CRAWL_LIBS := $(call pkg,--libs,$(CRAWL_PKGS)) $(HIREDIS_LIBS) $(LIB_LIBS)
CRAWL_FLAGS := $(call pkg,--cflags,$(CRAWL_PKGS)) $(HIREDIS_FLAGS)
# The status page is left out where its library is missing.
CRAWL_STATUS_MISSING := $(call missing,libmicrohttpd:libmicrohttpd-dev)
ifeq ($(CRAWL_STATUS_MISSING),)
CRAWL_LIBS += $(call pkg,--libs,libmicrohttpd)
CRAWL_FLAGS += $(call pkg,--cflags,libmicrohttpd) -DSEEN_CRAWL_STATUS
else
$(call part-skip,seen crawl --status,$(CRAWL_STATUS_MISSING))
endif
CONFIG_crawl := $(CRAWL_FLAGS) $(CRAWL_LIBS) $(CRAWL_OBJ)
$(CRAWL_OBJ): CPPFLAGS += $(CRAWL_FLAGS)
$(CRAWL_OBJ) $(BUILD)/seen-crawl: $(BUILD)/config/crawl
$(BUILD)/seen-crawl: $(CRAWL_OBJ) $(LIBKIT) $(LIBSEEN) $(BUILD)/libremote.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(CRAWL_OBJ) $(BUILD)/libremote.a $(LIBKIT) $(LIBSEEN) $(CRAWL_LIBS)
ALL += $(BUILD)/seen-crawl
INSTALL_BIN += $(BUILD)/seen-crawl

# The man page comes out of the table of options; cli/build.mk installs build/man.
ALL += $(BUILD)/man/seen-crawl.1
$(BUILD)/man/seen-crawl.1: $(BUILD)/seen-crawl
	@mkdir -p $(@D)
	@$< --help-man >$@

# Parts of the crawler, each on its own.
CRAWL_LIBS_packed_bodies = -lbrotlienc
$(BUILD)/tests/crawl/%.t: tests/crawl/%.c $(CRAWL_PARTS) $(LIBKIT) $(LIBSEEN) $(BUILD)/libremote.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Ikit -Icrawl -Itests $(LDFLAGS) -o $@ $< $(CRAWL_PARTS) $(BUILD)/libremote.a $(LIBKIT) $(LIBSEEN) $(CRAWL_LIBS) $(CRAWL_LIBS_$*)
TESTS += $(BUILD)/tests/crawl/page_rules.t $(BUILD)/tests/crawl/crawl_queues.t $(BUILD)/tests/crawl/late_names.t $(BUILD)/tests/crawl/packed_bodies.t $(BUILD)/tests/crawl/view_parts.t $(BUILD)/tests/crawl/rate_over_time.t
else
$(call part-skip,seen-crawl,$(CRAWL_MISSING))
endif

# The web site that tests and bench/crawl fetch.
CRAWL_SITE = $(BUILD)/tests/crawl/site
$(CRAWL_SITE): tests/crawl/site.c $(BUILD)/config/cc
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lz
tests-built: $(CRAWL_SITE)
bench: $(CRAWL_SITE)
