#!/usr/bin/perl
# seen add, merge and build, killed with SIGKILL at any call that changes a file: at any time
# the file is the old filter or the new one, whole, and every key of a run that ended well is
# in it. ROUNDS=1000 for more; a round is one run of each command.
use strict;
use warnings;
use File::Basename;
use lib dirname($0);
use KillAtCall;

my $rounds = $ENV{ROUNDS} || 20;
my $tools = begin_with_killer();
srand 17;

sub spew { open my $f, '>', shift or die; print $f map { "$_\n" } @_; close $f }
sub run { system(@_) >> 8 }
# Runs a command and kills it at one of its calls, or, one time in seven, not; returns its
# status, or -1 if it was killed. FILE is what it writes.
my %hits;
sub run_and_kill {
    my ($name, $file, @command) = @_;
    run('cp', $file, "$tools/as_before") if -e $file;
    my $calls = calls_of('said', @command);
    -e "$tools/as_before" ? run('mv', "$tools/as_before", $file) : unlink $file;
    my $at = rand() < 0.85 ? 1 + int rand $calls : $calls + 1;
    my $killed = killed_at($at, 'said', @command);
    $hits{$name}++ if $killed;
    return $killed ? -1 : $? >> 8;
}

run(qw(seen new --kind set --seed 5 -n 1000 add.seen));
run(qw(seen new --like add.seen), 'merge.seen');
run(qw(seen new --like add.seen), 'empty.seen');
my (%acknowledged, $unreadable, $lost, $failed);
$unreadable = $lost = $failed = 0;
my $next = 0;
sub check {
    my ($file, $wanted) = @_;
    $unreadable++ if run("seen verify $file >verify.log 2>&1");
    spew('wanted', @$wanted);
    chomp(my $missing = `seen has -v -c $file wanted`);
    $lost += $missing;
    print "# $file: $missing of ", scalar @$wanted, " keys are missing\n" if $missing;
}
my (@added, @merged, @built);
for my $round (1 .. $rounds) {
    if ($round % 50 == 0) { # they grow: begin again
        run('cp', 'empty.seen', $_) for 'add.seen', 'merge.seen';
        @added = @merged = ();
    }
    my @keys = map { 'key ' . $next++ } 1 .. 20000;
    spew('keys', @keys);
    my $some = sub { map { $keys[rand @keys] } 1 .. 50 };

    my $rc = run_and_kill('add', 'add.seen', qw(seen add -q add.seen keys));
    $failed++ if $rc > 0;
    push @added, $some->() if $rc == 0;
    check('add.seen', \@added);

    run('cp', 'empty.seen', 'part.seen');
    run(qw(seen add -q part.seen keys));
    $rc = run_and_kill('merge', 'merge.seen', qw(seen merge -o merge.seen merge.seen part.seen));
    $failed++ if $rc > 0;
    push @merged, $some->() if $rc == 0;
    check('merge.seen', \@merged);

    $rc = run_and_kill('build', 'build.seen', qw(seen build -q -f -e 0.001 build.seen keys));
    $failed++ if $rc > 0;
    if ($rc == 0) {
        @built = ([$some->()]);
    } elsif (@built) { # the old one, or the new one
        push @built, [$some->()];
    }
    next if !-e 'build.seen';
    $unreadable++ if run('seen verify build.seen >verify.log 2>&1');
    my $whole = grep { spew('wanted', @$_); !run('test -z "$(seen has -v build.seen wanted)"') } @built;
    $lost++ if @built && !$whole;
}
my @left = grep { !/^(keys|wanted|said|verify\.log|(add|merge|build|part|empty)\.seen)$/ } glob '*';
my @parts = grep { run("seen verify $_ >verify.log 2>&1") } @left;
my $n = 0;
sub ok { $n++; print $_[0] ? '' : 'not ', "ok $n - $_[1]\n"; !$_[0] }
my @often = map { $hits{$_} // 0 } qw(add merge build);
my $bad = ok(!(grep { $_ < $rounds / 2 } @often),
    "add, merge and build were killed in @often of $rounds runs");
$bad |= ok($failed == 0, 'no run that was not killed failed');
$bad |= ok($lost == 0, "no key of a run that ended well is lost ($lost)");
$bad |= ok($unreadable == 0, "the files are whole after every run ($unreadable)");
$bad |= ok(!@parts, "nothing unfinished is left behind (@parts)");
print "1..$n\n";
exit $bad;
