#!/usr/bin/perl
# Runs with --state, killed with SIGKILL at any call that changes a file, and started again
# on the same lines: every distinct line is printed in some run. ROUNDS=100 for more.
use strict;
use warnings;
use File::Basename;
use File::Copy;
use lib dirname($0);
use KillAtCall;

my $rounds = $ENV{ROUNDS} || 24;
my $tools = begin_with_killer();
srand 11;

# Three hundred thousand lines in chunks that grow, as a crawl would feed them.
my @lines = map { "http://host" . int(rand 5000) . ".example/" . int(rand 40) } 1 .. 300_000;
my %distinct = map { $_ => 1 } @lines;
sub spew { open my $f, '>', $_[0] or die; print $f map { "$_\n" } @{$_[1]}; close $f }

my (%printed, %at, $state_bad);
my $killed = my $tries = $state_bad = 0;
for my $round (1 .. $rounds) {
    my $upto = int(@lines * $round / $rounds);
    spew('in', [@lines[0 .. $upto - 1]]);
    my @mode = @{(['-e', '0.0001'], ['-j', 2], [])[$round % 3]};
    my @command = ('seen', 'uniq', '-q', '-s', 'state', @mode, 'in');
    # What it would do, on a copy of the state; then it dies somewhere on that way, every
    # second time at one of its last calls, where the output and the state become safe.
    copy('state', "$tools/state");
    my $calls = calls_of("$tools/out", map { $_ eq 'state' ? "$tools/state" : $_ } @command);
    my $at = 1 + int rand $calls;
    $at = $calls - $round / 2 % 8 if $round % 2 == 0 && $calls > 8;
    $at = $calls + 1 if $round == $rounds; # this one ends
    $tries += $round < $rounds;
    $killed += killed_at($at, 'out', @command);
    push @{$at{$calls}}, $at;
    open my $f, '<', 'out' or die;
    my $text = do { local $/; <$f> } // '';
    close $f;
    # A killed run may have written half a line, which nobody takes for one.
    $text =~ s/[^\n]*\z//;
    $printed{$_} = 1 for split /\n/, $text;
    if (-s 'state') {
        system('seen verify state >verify.log 2>&1') == 0 or $state_bad++;
    }
}
my $n = my $bad = 0;
sub ok { $n++; print $_[0] ? '' : 'not ', "ok $n - $_[1]\n"; $bad = 1 if !$_[0] }
my @missing = grep { !$printed{$_} } keys %distinct;
print "# killed at call ", join(', ', map { "@{$at{$_}} of $_" } sort { $a <=> $b } keys %at), "\n";
ok($killed == $tries, "every run but the last was killed ($killed of $tries)");
ok(!@missing, "of " . keys(%distinct) . " distinct lines none was lost over $rounds runs");
ok(!$state_bad, 'the state was whole after every run');
# A file has no name until it is whole; killed in the instant between its naming and its
# renaming, a whole file may stay beside the state.
my @left = grep { !/^(in|out|state|verify\.log)$/ } glob '*';
my @parts = grep { system("seen verify $_ >verify.log 2>&1") != 0 } @left;
ok(!@parts, 'killed runs leave no parts of files behind');
print "# left: @left\n" if @left;
print "1..$n\n";
exit $bad;
