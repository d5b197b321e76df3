#!/usr/bin/perl
# Runs with --state, killed with SIGKILL at random moments and started again on the same
# lines: every distinct line is printed in some run. ROUNDS=100 for more.
use strict;
use warnings;
use Cwd;
use File::Temp qw(tempdir);
use Time::HiRes qw(usleep);

my $rounds = $ENV{ROUNDS} || 25;
my $build = $ENV{BUILD} || 'build';
$ENV{PATH} = ($build =~ m{^/} ? $build : getcwd . "/$build") . ":$ENV{PATH}";
my $dir = tempdir(CLEANUP => 1);
chdir $dir or die;
srand 11;

# Three hundred thousand lines in chunks that grow, as a crawl would feed them.
my @lines = map { "http://host" . int(rand 5000) . ".example/" . int(rand 40) } 1 .. 300_000;
my %distinct = map { $_ => 1 } @lines;
sub spew { open my $f, '>', $_[0] or die; print $f map { "$_\n" } @{$_[1]}; close $f }

my (%printed, $killed, $finished, $lost, $state_bad);
$killed = $finished = $lost = $state_bad = 0;
my $i = 0;
for my $round (1 .. $rounds) {
    my $upto = int(@lines * $round / $rounds);
    spew('in', [@lines[0 .. $upto - 1]]);
    my @mode = (['-e', '0.0001'], ['-j', 2], [])[$round % 3];
    my $pid = fork;
    if (!$pid) {
        open STDOUT, '>', 'out' or die;
        exec 'seen', 'uniq', '-q', '-s', 'state', @{$mode[0]}, 'in' or die;
    }
    usleep(int rand 50_000) if $round < $rounds;
    if ($round < $rounds && int rand 6) {
        kill 'KILL', $pid;
    }
    waitpid $pid, 0;
    $? == 9 ? $killed++ : $finished++;
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
my @missing = grep { !$printed{$_} } keys %distinct;
print "# $killed killed, $finished finished\n";
printf "%sok 1 - of %d distinct lines none was lost over %d runs\n",
    @missing ? 'not ' : '', scalar keys %distinct, $rounds;
printf "%sok 2 - the state was whole after every run\n", $state_bad ? 'not ' : '';
# A file has no name until it is whole; killed in the instant between its naming and its
# renaming, a whole file may stay beside the state.
my @left = grep { !/^(in|out|state|verify\.log)$/ } glob '*';
my @parts = grep { system("seen verify $_ >verify.log 2>&1") != 0 } @left;
printf "%sok 3 - killed runs leave no parts of files behind\n", @parts ? 'not ' : '';
print "# left: @left\n" if @left;
print "1..3\n";
exit(@missing || $state_bad || @parts ? 1 : 0);
