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
    ok($truth <= $e * $distinct + 6 * sqrt($e * $distinct), "$mode: the promised error is kept") if $e;
}
print "1..$n\n";
exit $bad;
