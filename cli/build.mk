# cli/build.mk - what only the tests of the command need.
#
# A second command whose hash has 10 bits: with it every filter says "seen" all the
# time, and only comparing bytes can be right. tests/cli/exact.t asks it.
WEAK = $(BUILD)/tests/cli/seen-weak
TESTS_NEED += $(WEAK)
$(BUILD)/obj/weak/feed.o: cli/feed.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Ikit -DSEEN_WEAK_HASH=10 -MMD -MP -c $< -o $@
WEAK_OBJ = $(filter-out $(BUILD)/obj/cli/feed.o,$(CLI_OBJ)) $(BUILD)/obj/weak/feed.o
# (Whatever else the command is linked with was built for the command.)
$(WEAK): $(BUILD)/seen $(BUILD)/obj/weak/feed.o
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(WEAK_OBJ) $(LIBKIT) $(LIBSEEN) $(REMOTE_LIBS) $(CLI_LIBS)
