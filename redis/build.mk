# redis/ - the module seen.so, which needs nothing but libseen; and the client side for
# plain Redis (redis/client), which needs hiredis.
REDIS_SRC := $(sort $(wildcard redis/*.c))
REDIS_OBJ := $(REDIS_SRC:%.c=$(BUILD)/obj/%.o)
REDIS_SO = $(BUILD)/seen.so

ALL += $(REDIS_SO)
INSTALL_LIB += $(REDIS_SO)

# Every symbol of the server is fetched by name, so nothing may stay undefined.
$(REDIS_SO): $(REDIS_OBJ) $(LIBSEEN)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared $(if $(SAN)$(TSAN),,-Wl,--no-undefined) -Wl,--exclude-libs,ALL -o $@ $(REDIS_OBJ) $(LIBSEEN) $(LIB_LIBS)

TESTS += $(BUILD)/tests/redis/line_sizes.t
$(BUILD)/tests/redis/line_sizes.t: tests/redis/line_sizes.c $(BUILD)/obj/redis/line_sizes.o $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -I. -Itests $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# The loaders are fuzzed with a server of a few lines.
FUZZ_OBJ_redis_module = $(addprefix $(BUILD)/obj/redis/,module_api.o bf_value.o bf_parts.o bf_options.o cf_value.o value_bytes.o \
	bloom.o bloom_bytes.o line_sizes.o cf_table.o server_memory.o settings.o)

# ---- client: filters in plain Redis, for the command and the crawler -------------------
# Programs that want it depend on $(REMOTE_A), link $(REMOTE_LIBS) and are compiled with
# $(REMOTE_FLAGS).
ifeq ($(call have,hiredis),yes)
REMOTE_SRC := $(sort $(wildcard redis/client/*.c))
REMOTE_OBJ := $(REMOTE_SRC:%.c=$(BUILD)/obj/%.o)
REMOTE_A = $(BUILD)/libremote.a
REMOTE_LIBS = $(REMOTE_A) $(LIBSEEN) $(shell pkg-config --libs hiredis) $(LIB_LIBS)
REMOTE_FLAGS = -DSEEN_REMOTE -Iredis/client
ALL += $(REMOTE_A)
$(REMOTE_A): $(REMOTE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/obj/cli/store_remote.o: CPPFLAGS += $(REMOTE_FLAGS)
$(BUILD)/seen: $(REMOTE_A)
$(BUILD)/seen: CLI_LIBS := $(REMOTE_LIBS) $(CLI_LIBS)
else
$(call part-skip,redis client (seen --redis),libhiredis-dev)
endif
