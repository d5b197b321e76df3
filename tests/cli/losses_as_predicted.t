#!/usr/bin/perl
# The expected number of distinct lines lost, as --json tells it, against the truth:
# within six sigma of the prediction (losses are rare and independent: Poisson), with
# one part in fifty for the formula itself. And every printed line is a first occurrence,
# in order.
use strict;
use warnings;
use File::Temp qw(tempdir);

chdir tempdir(CLEANUP => 1) or die;
srand 17;
my $n = 0;
my $bad = 0;
sub ok { my ($good, $what) = @_; $n++; print $good ? "ok $n - $what\n" : "not ok $n - $what\n"; $bad ||= !$good }

open my $f, '>', 'in' or die;
my %seen;
my @first;
for (1 .. 600_000) {
    my $l = int(rand 4) ? int(rand 2_000_000) : int(rand 1000);
    print $f "user$l\n";
    push @first, "user$l" unless $seen{$l}++;
}
close $f;
my $distinct = @first;
for my $mode ('-e 0.01', '-e 0.01 -n 100000', '-e 0.001 -n 400k', '-e 0.05 -n 400k -j 2',
    '-m 400K', '-m 400K -n 400k', '-m 300K -n 100k', '-m 150K', '-e 0.00001 -n 400k') {
    system("seen uniq -q --json $mode in >out 2>stats") == 0 or die "seen uniq $mode";
    my $stats = do { local (@ARGV, $/) = 'stats'; <> };
    my ($lost) = $stats =~ /"expected_lost": ([-\d.e+]+)/;
    my ($said) = $stats =~ /"distinct": (\d+)/;
    open my $o, '<', 'out' or die;
    my ($at, $printed, $order) = (0, 0, 1);
    while (<$o>) {
        chomp;
        $at++ while $at < @first && $first[$at] ne $_;
        $order = 0, last if $at == @first;
        $at++;
        $printed++;
    }
    my $truth = $distinct - $printed;
    ok($order && $said == $printed, "$mode: first occurrences in order, $printed of them");
    my $room = 6 * sqrt($lost) + $lost / 50 + 6;
    ok(abs($truth - $lost) <= $room, sprintf "%s: %d lost, %.1f expected, +- %.0f", $mode, $truth, $lost, $room);
    my ($e) = $mode =~ /-e (\S+)/;
    my ($low) = $stats =~ /"lost_at_least": (\d+)/;
    my ($high) = $stats =~ /"lost_at_most": (\d+)/;
    ok($low <= $truth && $truth <= $high, "$mode: $truth lost, said to be from $low to $high");
    ok($truth <= $e * $distinct + 6 * sqrt($e * $distinct), "$mode: the promised error is kept") if $e;
}

# --max-lost stops at the upper end of the interval. Numbered lines: what is missing
# between the first and the last was lost. A bound for 99 of 100 seeds.
open $f, '>', 'numbers' or die;
print $f "$_\n" for 1 .. 20000;
close $f;
for my $mode ('-m 16K', '-e 0.02 -n 100') {
    my ($over, $stopped) = (0, 0);
    for my $seed (1 .. 50) {
        my @out = `SEEN_SEED=$seed seen uniq -q $mode --max-lost 25 numbers 2>err`;
        $stopped++ if $? >> 8 == 2;
        $over++ if $out[-1] - @out > 25;
    }
    ok($over <= 1 && $stopped == 50, "$mode --max-lost 25: $over of 50 runs lose more, $stopped stop");
}
print "1..$n\n";
exit $bad;
