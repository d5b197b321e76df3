# plugins/postgres/ - the extension for PostgreSQL: CREATE EXTENSION seen. It cannot be
# instrumented, because the server is not.
PG_CONFIG ?= $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin/pg_config)))
PG_INCLUDE := $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --includedir-server))
ifneq ($(SAN)$(TSAN)$(FUZZ),)
else ifneq ($(wildcard $(PG_INCLUDE)/postgres.h),)
PG_EXT = $(BUILD)/postgres/seen.so
PG_EXT_OBJ = $(BUILD)/obj/plugins/postgres/seen_postgres.o $(BUILD)/obj/plugins/sql/sql_filter.o
$(PG_EXT_OBJ): CPPFLAGS += -Iplugins/sql -isystem $(PG_INCLUDE)
$(BUILD)/obj/plugins/postgres/seen_postgres.o: ALL_CFLAGS += -fvisibility=default -Wno-missing-prototypes
$(PG_EXT_OBJ) $(PG_EXT): $(BUILD)/config/postgres
CONFIG_postgres := $(PG_INCLUDE)
ALL += $(PG_EXT)
$(PG_EXT): $(PG_EXT_OBJ) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $(PG_EXT_OBJ) $(LIBSEEN) $(LIB_LIBS)

# The folders where this server looks, which are not below PREFIX.
.PHONY: install-postgres
install-postgres: $(PG_EXT)
	install -d $(DESTDIR)$$($(PG_CONFIG) --pkglibdir) $(DESTDIR)$$($(PG_CONFIG) --sharedir)/extension
	install -m 755 $(PG_EXT) $(DESTDIR)$$($(PG_CONFIG) --pkglibdir)
	install -m 644 plugins/postgres/seen.control plugins/postgres/seen--0.1.sql $(DESTDIR)$$($(PG_CONFIG) --sharedir)/extension
else
$(call part-skip,postgres extension,postgresql-server-dev-all)
endif
