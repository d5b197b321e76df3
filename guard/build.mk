# guard/: filter, cache, database. The core needs nothing but the library; each adapter
# needs its package; without it, the adapter's function only says so.
GUARD_CORE := adapters_left_out after_fork background control guard local_backend mapped_filters marked_write pool rebuild single_flight sql_table
GUARD_LIBS :=
GUARD_ADAPTERS :=
ifneq ($(HIREDIS),)
GUARD_ADAPTERS += cache_redis shared_backend
GUARD_LIBS += $(call pkg,--libs,hiredis)
else
$(call part-skip,guard for Redis,libhiredis-dev)
endif
ifneq ($(call have,sqlite3),)
GUARD_ADAPTERS += db_sqlite
GUARD_LIBS += $(call pkg,--libs,sqlite3)
else
$(call part-skip,guard for SQLite,libsqlite3-dev)
endif
ifneq ($(call have,libpq),)
GUARD_ADAPTERS += db_postgres
GUARD_LIBS += $(call pkg,--libs,libpq)
else
$(call part-skip,guard for PostgreSQL,libpq-dev)
endif
GUARD_OBJ := $(patsubst %,$(BUILD)/obj/guard/%.o,$(GUARD_CORE) $(GUARD_ADAPTERS))
# The cache talks to Redis through the one connection layer there is.
ifneq ($(filter cache_redis,$(GUARD_ADAPTERS)),)
GUARD_OBJ += $(BUILD)/obj/remote/server_connection.o
GUARD_SHARED := shared_scripts shared_server shared_write shared_build
GUARD_OBJ += $(GUARD_SHARED:%=$(BUILD)/obj/guard/%.o)
$(patsubst %,$(BUILD)/obj/guard/%.o,cache_redis shared_backend $(GUARD_SHARED)): CPPFLAGS += -Iremote $(HIREDIS_FLAGS)
endif
# Its files are written by the same code as the library's, which libseen.so does not export.
GUARD_OBJ += $(BUILD)/obj/lib/base/sync.o
$(patsubst %,$(BUILD)/obj/guard/%.o,control mapped_filters): CPPFLAGS += -Ilib
GUARD_PQ := $(call pkg,--cflags,libpq)
$(BUILD)/obj/guard/db_postgres.o: CPPFLAGS += $(GUARD_PQ)
$(BUILD)/obj/guard/adapters_left_out.o: CPPFLAGS += $(GUARD_ADAPTERS:%=-DHAVE_%)
CONFIG_guard := $(GUARD_OBJ) $(GUARD_PQ) $(GUARD_LIBS)
$(GUARD_OBJ) $(BUILD)/libseen_guard.a $(BUILD)/seen_guard.pc: $(BUILD)/config/guard
LIBSEEN_GUARD = $(BUILD)/libseen_guard.a
ALL += $(LIBSEEN_GUARD)
TESTS += $(BUILD)/tests/guard/guard_keeps_its_rules.t
ifneq ($(filter cache_redis,$(GUARD_ADAPTERS)),)
TESTS += $(BUILD)/tests/guard/lying_redis_is_harmless.t $(BUILD)/tests/guard/shared_guard_keeps_its_rules.t
endif
ifeq ($(words $(GUARD_ADAPTERS)),4)
TESTS += $(BUILD)/tests/guard/guard_is_safe_by_default.t
TESTS += $(BUILD)/tests/guard/no_stored_key_is_refused.t $(BUILD)/tests/guard/many_machines_refuse_no_stored_key.t
BENCHES += $(BUILD)/bench/guard/queries
endif
INSTALL_LIB += $(LIBSEEN_GUARD)
ifneq ($(filter db_sqlite,$(GUARD_ADAPTERS)),)
ALL += $(BUILD)/examples/guard_sqlite
endif
INSTALL_INC += guard/seen_guard.h
ALL += $(BUILD)/seen_guard.pc
INSTALL_PC += $(BUILD)/seen_guard.pc
PC_WHAT_seen_guard = Filter, cache, database: a guard against cache penetration
PC_REQUIRES_seen_guard = seen
PC_LIBS_seen_guard = $(strip $(GUARD_LIBS))

$(LIBSEEN_GUARD): $(GUARD_OBJ)
	@rm -f $@
	$(AR) rcs $@ $(GUARD_OBJ)

GUARD_LINK = $(LDFLAGS) $(LIBSEEN_GUARD) $(LIBSEEN) $(GUARD_LIBS) $(LIB_LIBS)
$(BUILD)/tests/guard/%.t: tests/guard/%.c $(wildcard tests/guard/*.h) tests/tap.h $(LIBSEEN_GUARD) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iguard -Itests $(GUARD_PQ) -o $@ $< $(GUARD_LINK)
$(BUILD)/bench/guard/%: bench/guard/%.c $(wildcard tests/guard/*.h) $(LIBSEEN_GUARD) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iguard -Itests $(GUARD_PQ) -o $@ $< $(GUARD_LINK)
$(BUILD)/examples/guard_%: examples/guard_%.c $(LIBSEEN_GUARD) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iguard -o $@ $< $(GUARD_LINK)
