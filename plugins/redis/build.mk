# plugins/redis/ - the module seen.so, which needs nothing but libseen. It sees seen.h and
# one header of the library beside it: RedisBloom's own structures.
REDIS_SRC := $(sort $(wildcard plugins/redis/*.c plugins/redis/*/*.c))
REDIS_OBJ := $(REDIS_SRC:%.c=$(BUILD)/obj/%.o)
$(REDIS_OBJ): CPPFLAGS += -Ilib -Iplugins/redis
REDIS_SO = $(BUILD)/seen.so

ALL += $(REDIS_SO)

# Servers have no folder of their own; this is where Debian keeps modules of both. One that
# is not executable is refused.
REDIS_MODULEDIR ?= $(LIBDIR)/redis/modules
.PHONY: install-redis
install: install-redis
install-redis: $(REDIS_SO)
	install -d $(DESTDIR)$(REDIS_MODULEDIR)
	install -m 755 $(REDIS_SO) $(DESTDIR)$(REDIS_MODULEDIR)

# Every symbol of the server is fetched by name, so nothing may stay undefined.
CONFIG_redis := $(REDIS_OBJ)
$(REDIS_SO): $(REDIS_OBJ) $(LIBSEEN) $(BUILD)/config/redis
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared $(if $(SAN)$(TSAN),,-Wl,--no-undefined) -Wl,--exclude-libs,ALL -o $@ $(REDIS_OBJ) $(LIBSEEN) $(LIB_LIBS)

TESTS += $(BUILD)/tests/redis/blocked_sizes_agree.t
$(BUILD)/tests/redis/blocked_sizes_agree.t: tests/redis/blocked_sizes_agree.c $(BUILD)/obj/plugins/redis/bf/blocked_sizes.o $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -I. -Ilib -Itests $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Every test that starts servers runs twice: on Redis as it stands, and on Valkey through
# a wrapper. The forged server is the same for both, and large filters need be tried once.
VALKEY_TESTS := $(filter-out forged_% unlink_% growing_%,$(patsubst tests/redis/%,%,$(wildcard tests/redis/*.t)))
TESTS += $(VALKEY_TESTS:%=$(BUILD)/tests/redis/valkey_%)
$(BUILD)/tests/redis/valkey_%.t: tests/redis/%.t
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nSEEN_SERVER=valkey exec $<\n' >$@ && chmod +x $@

# The loaders are fuzzed with a server of a few lines.
FUZZ_OBJ_redis_module = $(addprefix $(BUILD)/obj/plugins/redis/,server/module_api.o server/arguments.o bf/bf_value.o bf/bf_pieces.o bf/bf_options.o cf/cf_value.o server/value_bytes.o server/value_type.o \
	bf/bloom.o bf/bloom_bytes.o cf/cuckoo_bytes.o server/filter_secret.o bf/blocked_sizes.o cf/cf_table.o cf/copy_counts.o bf/merge_layers.o server/server_memory.o server/settings.o sketches/sketch_types.o server/dump_payload.o server/acl_categories.o)
