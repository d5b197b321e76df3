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
