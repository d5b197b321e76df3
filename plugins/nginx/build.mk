# plugins/nginx/: the module, built against the headers and flags of Debian's nginx-dev, so
# that the packaged nginx loads it. It cannot be instrumented: nginx itself is not.
NGINX_SRC ?= /usr/share/nginx/src
ifneq ($(SAN)$(TSAN),)
else ifneq ($(wildcard $(NGINX_SRC)/configure),)
NGINX_CFLAGS ?= -O2 -g
NGINX_LDFLAGS ?=
NGINX_OBJS = $(BUILD)/nginx/objs
NGINX_MODULE = $(BUILD)/nginx/ngx_http_seen_module.so
ALL += $(NGINX_MODULE)
TESTS += $(BUILD)/tests/nginx/exact_list_searches.t
BENCHES += $(BUILD)/tests/nginx/make_filter
tests-built: $(BUILD)/tests/nginx/make_filter

# The module fits one build of nginx only. A newer package may bring older dates.
CONFIG_nginx := $(NGINX_SRC) $(NGINX_CFLAGS) $(NGINX_LDFLAGS) $(shell cat $(NGINX_SRC)/conf_flags $(NGINX_SRC)/src/core/nginx.h | cksum)

# nginx's configure writes where it stands: it gets a folder of links.
$(NGINX_OBJS)/Makefile: plugins/nginx/config plugins/nginx/build.mk $(BUILD)/config/nginx
	@mkdir -p $(BUILD)/nginx
	@for f in auto src configure; do ln -sfn $(NGINX_SRC)/$$f $(BUILD)/nginx/$$f; done
	@cd $(BUILD)/nginx && SEEN_ROOT=$(CURDIR) SEEN_LIB=$(abspath $(LIBSEEN)) bash -c \
	    '. $(NGINX_SRC)/conf_flags && ./configure "$${NGX_CONF_FLAGS[@]}" --with-cc-opt="$(NGINX_CFLAGS) -fPIC -std=gnu11 -fvisibility=default" --with-ld-opt="$(NGINX_LDFLAGS) -Wl,--exclude-libs,ALL" --add-dynamic-module=$(CURDIR)/plugins/nginx' \
	    > configure.log 2>&1 || { tail -5 configure.log >&2; exit 1; }

$(NGINX_MODULE): $(NGINX_OBJS)/Makefile $(wildcard plugins/nginx/*.c plugins/nginx/*.h) $(LIBSEEN)
	@$(MAKE) -s -C $(BUILD)/nginx -f objs/Makefile modules > $(BUILD)/nginx/make.log 2>&1 || \
	    { tail -30 $(BUILD)/nginx/make.log >&2; exit 1; }
	@cp $(NGINX_OBJS)/ngx_http_seen_module.so $@

$(BUILD)/tests/nginx/exact_list_searches.t: tests/nginx/exact_list_searches.c $(BUILD)/obj/plugins/nginx/exact_list.o $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/nginx -Itests -o $@ $^ $(LDFLAGS) $(LIB_LIBS)

$(BUILD)/tests/nginx/make_filter: tests/nginx/make_filter.c $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -o $@ $^ $(LDFLAGS) $(LIB_LIBS)

.PHONY: install-nginx
install-nginx: $(NGINX_MODULE)
	install -d $(DESTDIR)/usr/lib/nginx/modules $(DESTDIR)/etc/nginx/modules-enabled
	install -m 644 $(NGINX_MODULE) $(DESTDIR)/usr/lib/nginx/modules
	echo 'load_module modules/ngx_http_seen_module.so;' > $(DESTDIR)/etc/nginx/modules-enabled/60-mod-seen.conf
else
$(call part-skip,nginx,nginx-dev)
endif
