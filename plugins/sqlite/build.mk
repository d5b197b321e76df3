# plugins/sqlite/ - the loadable extension for SQLite: .load seen
SQLITE_EXT = $(BUILD)/sqlite/seen.so
SQLITE_EXT_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,plugins/sql/sql_filter.c plugins/sqlite/seen_sqlite.c)
$(SQLITE_EXT_OBJ): CPPFLAGS += -Iplugins/sql
FUZZ_OBJ_sql_value = $(BUILD)/obj/plugins/sql/sql_filter.o
ifneq ($(call have-header,sqlite3ext.h),)
ALL += $(SQLITE_EXT)
# SQLite passes its functions in a table, so no symbol stays undefined.
$(SQLITE_EXT): $(SQLITE_EXT_OBJ) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared $(if $(SAN)$(TSAN),,-Wl,--no-undefined) -Wl,--exclude-libs,ALL -o $@ $(SQLITE_EXT_OBJ) $(LIBSEEN) $(LIB_LIBS)
SQLITE_EXTDIR ?= $(LIBDIR)/sqlite3
.PHONY: install-sqlite
install: install-sqlite
install-sqlite: $(SQLITE_EXT)
	install -d $(DESTDIR)$(SQLITE_EXTDIR)
	install -m 755 $(SQLITE_EXT) $(DESTDIR)$(SQLITE_EXTDIR)
else
$(call part-skip,sqlite extension,libsqlite3-dev)
endif
