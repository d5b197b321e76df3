# KillAtCall.pm - kills commands at a call that was drawn by lot, of those that change files
# (kill_at_call.c): what a power cut could hit, without waiting for a time.
package KillAtCall;
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use Exporter 'import';
use File::Basename;
use File::Temp qw(tempdir);
our @EXPORT = qw(begin_with_killer calls_of killed_at);

my $shim;

# Begins a test: what was built is first in PATH, the working folder is a new one. Returns a
# folder beside it, for what the test needs to look on.
sub begin_with_killer {
    my $build = $ENV{BUILD} || 'build';
    $ENV{PATH} = ($build =~ m{^/} ? $build : getcwd . "/$build") . ":$ENV{PATH}";
    my $tools = tempdir(CLEANUP => 1);
    preload_killer($tools);
    chdir tempdir(CLEANUP => 1) or die;
    return $tools;
}

# Builds the shim in the folder given; ends the test as skipped where nothing can be preloaded.
sub preload_killer {
    my ($folder) = @_;
    $shim = "$folder/kill_at_call.so";
    my $source = dirname(abs_path(__FILE__)) . '/kill_at_call.c';
    system($ENV{CC} || 'cc', qw(-O1 -fPIC -shared -o), $shim, $source, '-ldl') == 0 or die;
    return if killed_at(1, "$folder/tried", qw(seen new), "$folder/try.seen");
    print "1..0 # SKIP nothing can be preloaded into the command\n";
    exit 0;
}

# Runs a command whose standard output goes to the file OUT; returns its status as $?.
sub run_with {
    my ($name, $value, $out, @command) = @_;
    my $pid = fork;
    if (!$pid) {
        open STDOUT, '>', $out or die;
        open STDERR, '>', '/dev/null' if $out =~ /tried$/;
        @ENV{'LD_PRELOAD', $name} = ($shim, $value);
        exec @command or die;
    }
    waitpid $pid, 0;
    return $?;
}

# How many such calls the command makes, undisturbed.
sub calls_of {
    my ($out, @command) = @_;
    unlink "$shim.calls";
    run_with('COUNT_CALLS', "$shim.calls", $out, @command) == 0 or die "@command: status $?";
    return -s "$shim.calls" // 0;
}

# Runs the command until its call number N; true if it was killed there.
sub killed_at {
    my ($n, $out, @command) = @_;
    return run_with('KILL_AT', $n, $out, @command) == 9;
}
1;
