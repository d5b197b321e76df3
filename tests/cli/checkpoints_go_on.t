#!/usr/bin/perl
# seen uniq --state --checkpoint, killed with SIGKILL at each call that changes a file: no
# state is ever empty or damaged, and a run that goes on ends with the output of one that
# was never killed. On standard output lines may come twice, and none is lost.
use strict;
use warnings;
use File::Basename;
use lib dirname($0);
use KillAtCall;

my $tools = begin_with_killer();
srand 7;

my $n = my $bad = 0;
sub ok { $n++; print $_[0] ? '' : 'not ', "ok $n - $_[1]\n"; $bad = 1 if !$_[0] }
sub spew { open my $f, '>', $_[0] or die; print $f $_[1]; close $f }
sub slurp { open my $f, '<', $_[0] or return ''; local $/; my $t = <$f> // ''; close $f; $t }

# Blocks are 256 KiB: some ten of them, and the last line of each file has no end.
my @lines = map { sprintf 'http://host%d.example/a/path/that/is/long/%d', rand 900, rand 60 } 1 .. 50_000;
my $half = @lines / 2;
spew('one', join "\n", @lines[0 .. $half - 1]);
spew('two', join "\n", @lines[$half .. $#lines]);
my (%once, @want);
$once{$_}++ or push @want, $_ for @lines;
my $want = join "\n", @want;
# The last line of all has no end if it is new.
my $full = sub { my $t = slurp($_[0]); chomp $t; $t };

my ($states, $wrong, $left) = (0, 0, 0);
sub look_at_state {
    return if !-e 'st';
    $states++;
    system('seen verify st >log 2>&1') == 0 && -s 'st' or $wrong++, print "# the state: ", slurp('log');
}
sub parts { my @found = glob 'out.*'; return @found }
sub afresh { unlink glob 'st st.* out out.* log' }

# With -o: each call, and what comes out.
my @command = qw(seen uniq --checkpoint 6000 -s st -o out one two);
my $calls = calls_of('log', @command);
ok($full->('out') eq $want, "undisturbed, in $calls calls");
ok(!-e 'st.run' && !parts(), 'nothing is left beside');
my $differ = my $unkilled = my $went_on = 0;
for my $at (1 .. $calls) {
    afresh();
    killed_at($at, 'log', @command) or $unkilled++;
    look_at_state();
    my $said = `@command 2>&1`;
    $? == 0 && $full->('out') eq $want or $differ++, print "# killed at $at: $said\n";
    $went_on++ if $said =~ /goes on after a run that did not end/;
    -e 'st.run' and $left++;
    $differ++ if `seen uniq -s st one two` ne '';
}
ok(!$unkilled, 'every run was killed');
ok(!$differ, 'whatever the call, the run that went on has the output of one that was not killed');
ok($went_on > $calls / 2, "most of them said from where ($went_on)");
ok(!$left, 'no log is left by a run that ended');

# Killed again and again, with threads, on the way.
$differ = 0;
for my $round (1 .. 12) {
    afresh();
    my @again = (qw(seen uniq -q -j), 1 + $round % 3, qw(--checkpoint 4000 -s st -o out one two));
    my $ended;
    for (1 .. 4) {
        killed_at(1 + int(rand $calls * 1.2), 'log', @again) or $ended = 1, last;
        look_at_state();
    }
    ($ended || system(@again) == 0) && $full->('out') eq $want or $differ++;
}
ok(!$differ, 'killed again while they went on');

# Standard output: everything is there, in one run or another.
my ($lost, $said_so) = (0, 0);
for my $round (1 .. 16) {
    afresh();
    my @print = (qw(seen uniq -j), 1 + $round % 2, qw(--checkpoint 4000 -s st one two));
    my %printed;
    my $all = calls_of("$tools/out", map { $_ eq 'st' ? "$tools/st" : $_ } @print);
    unlink "$tools/st";
    killed_at(1 + int(rand $all), 'printed', @print);
    look_at_state();
    my $text = slurp('printed');
    $text =~ s/[^\n]*\z//;
    $printed{$_} = 1 for split /\n/, $text;
    my $rest = `@print 2>log`;
    $printed{$_} = 1 for split /\n/, $rest;
    $lost += grep { !$printed{$_} } @want;
    $said_so++ if slurp('log') =~ /^seen uniq: st: goes on after a run that did not end: the state knows its first [1-9]/;
}
ok(!$lost, 'on standard output no line is lost');
ok($said_so > 3, "and the next run said what it knows ($said_so)");
ok($states > $calls && !$wrong, "no state was empty or damaged ($states looked at)");

# What would lose the lines of the unfinished output is refused.
afresh();
my $late = 0;
for my $at (int($calls / 2) .. $calls) {
    killed_at($at, 'log', @command);
    last if -e 'st.run' && slurp('st.run') =~ /^state .*^state /ms && parts() && ++$late;
    afresh();
}
ok($late, 'an unfinished output');
sub refused {
    my ($words, $pattern, @args) = @_;
    my $said = `seen uniq @args 2>&1 >log`;
    my $good = $? >> 8 == 2 && $said =~ $pattern;
    ok($good, $words);
    print "# $said" if !$good;
}
refused('without -o', qr/go on with -o \S*out, or remove st.run/, qw(-s st one));
refused('with another -o', qr/go on with -o \S*out/, qw(-s st -o other one));
refused('with -D', qr/go on with -o \S*out/, qw(-s st -o out -D dups one));
refused('a state that has changed', qr/st: has changed since/, qw(-s st -o out one))
    if system('cp st st2; cp st.run run2; echo x | seen add st >log 2>&1') == 0;
system('mv st2 st; mv run2 st.run');
my ($part) = parts();
rename $part, 'elsewhere';
refused('a part that is missing', qr/out\.\w+ is missing/, qw(-s st -o out one));
spew($part, 'short');
refused('a part that was cut short', qr/was cut short/, qw(-s st -o out one));
rename 'elsewhere', $part;
ok(system("@command 2>log") == 0 && $full->('out') eq $want, 'and nothing of it was touched');
afresh();
spew('st.run', "mine\n");
refused('a file of that name', qr/st.run: is not the log of a run/, qw(-s st one));
ok(slurp('st.run') eq "mine\n" && !-e 'st', 'stays, and no state is made');

# -d and -D: a state that knew half a run would call its lines repeated.
afresh();
for my $way ('-d', '-D dups') {
    unlink 'st';
    system("seen uniq -s st --checkpoint 1 $way one two >log") == 0 or die;
    my $sum = `seen info st | grep keys`;
    my $all = calls_of("$tools/out", split ' ', "seen uniq -s $tools/st --checkpoint 1 $way one two");
    unlink "$tools/st", 'st';
    killed_at($all - 4, 'log', split ' ', "seen uniq -s st --checkpoint 1 $way one two");
    ok(`seen count -q one` > 0 && !-e 'st.run' && `seen info st` =~ /keys *0/, "with $way only the end is saved");
}
print "1..$n\n";
exit $bad;
