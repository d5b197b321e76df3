# cli/build.mk - what only the tests of the command need.
#
# A second command whose hash has 10 bits: with it every filter says "seen" all the
# time, and only comparing bytes can be right. tests/cli/exact_whatever_the_hash.t asks it.
WEAK = $(BUILD)/tests/cli/seen-weak
TESTS_NEED += $(WEAK)
$(BUILD)/obj/weak/lines_feed.o: cli/lines/feed.c $(BUILD)/config/cc
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -I. -Icli -Ikit -DSEEN_WEAK_HASH=10 -MMD -MP -c $< -o $@
WEAK_OBJ = $(filter-out $(BUILD)/obj/cli/lines/feed.o,$(CLI_OBJ)) $(BUILD)/obj/weak/lines_feed.o
# (Whatever else the command is linked with was built for the command.)
$(WEAK): $(BUILD)/seen $(BUILD)/obj/weak/lines_feed.o
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(WEAK_OBJ) $(LIBKIT) $(LIBSEEN) $(REMOTE_LIBS) $(CLI_LIBS)

# Man pages and completions come out of the command's own tables.
ALL += $(BUILD)/man/seen.1
$(BUILD)/man/seen.1: $(BUILD)/seen
	@mkdir -p $(@D) $(BUILD)/completions
	@$< help --bash >$(BUILD)/completions/seen.bash
	@$< help --zsh >$(BUILD)/completions/_seen
	@$< help --fish >$(BUILD)/completions/seen.fish
	@for c in $$($< help --list); do $< help --man $$c >$(@D)/seen-$$c.1 || exit 1; done
	@$< help --man >$@

.PHONY: install-manual
install: install-manual
install-manual: all
	install -d $(addprefix $(DESTDIR),$(MANDIR)/man1 $(DATADIR)/bash-completion/completions $(DATADIR)/zsh/site-functions $(DATADIR)/fish/vendor_completions.d)
	install -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(BUILD)/completions/seen.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/seen
	install -m 644 $(BUILD)/completions/_seen $(DESTDIR)$(DATADIR)/zsh/site-functions/_seen
	install -m 644 $(BUILD)/completions/seen.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/seen.fish
