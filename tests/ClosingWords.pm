# ClosingWords.pm - prove's report with two things before its last two lines: every file that
# failed, by its first broken promise, and what was skipped and why. Both in so few lines
# that they can be read where only the end of a log is shown.
#
# tests/prove uses it; tests/keep has left what each file said in $BUILD/tap.
package ClosingWords;
use strict;
use warnings;

use TAP::Formatter::Console;
use TAP::Formatter::File;
our @ISA = (-t STDOUT && !$ENV{HARNESS_NOTTY} ? 'TAP::Formatter::Console' : 'TAP::Formatter::File');

my $shown = 24; # lines about files that failed; of more files there are only the names

sub said { # file, what
    my ($file, $what) = @_;
    $file =~ tr{/}{_};
    open my $f, '<', ($ENV{BUILD} || 'build') . "/tap/$file.$what" or return;
    chomp(my @lines = <$f>);
    return @lines;
}

# The first broken promise of a file with what follows it, or its last words.
sub why {
    my ($file, $parser, $lines) = @_;
    my @tap = said($file, 'tap');
    my @why;
    for my $i (grep { $tap[$_] =~ /^not ok/ } 0 .. $#tap) {
        push @why, $tap[$i];
        push @why, $tap[$i] while ++$i <= $#tap && $tap[$i] =~ /^#/;
        last;
    }
    @why = ('status ' . ($parser->exit || $parser->wait || 0) . ' after: ' . ($tap[-1] // 'nothing')) if !@why;
    my $broken = grep { /^not ok/ } @tap;
    $why[0] .= " (and " . ($broken - 1) . " more)" if $broken > 1;
    my @err = said($file, 'err');
    splice @err, 0, -3 if @err > 3;
    push @why, map { "# $_" } @err;
    splice @why, $lines if @why > $lines;
    return map { length > 300 ? substr($_, 0, 300) . '...' : $_ } @why;
}

sub what_failed {
    my ($all) = @_;
    my %bad = map { $_ => 1 } $all->failed, $all->parse_errors, $all->exit, $all->wait;
    my @bad = grep { $bad{$_} } $all->descriptions;
    return '' if !@bad;
    my $text = "What failed (all of it in " . ($ENV{BUILD} || 'build') . "/tap):\n";
    my $lines = @bad < $shown ? int($shown / @bad) : 1;
    for my $file (@bad[0 .. (@bad < $shown ? $#bad : $shown - 1)]) {
        my ($first, @rest) = why($file, $all->parsers($file), $lines < 6 ? $lines : 6);
        $text .= "$file: $first\n" . join '', map { "  $_\n" } @rest;
    }
    $text .= "and: @bad[$shown .. $#bad]\n" if @bad > $shown;
    return $text;
}

# One line: reason by reason, which files it took, and how much of each.
sub what_was_skipped {
    my ($all) = @_;
    my (@reasons, %files);
    for my $file ($all->descriptions) {
        my %here;
        for (said($file, 'tap')) {
            $here{$1 || 'no reason given'} = 0 if /^1\.\.0\s*(?:#\s*skip\S*\s*(.*))?$/i;
            $here{$1 || 'no reason given'}++ if /^ok\b.*#\s*skip\S*\s*(.*)$/i;
        }
        for my $why (sort keys %here) {
            push @reasons, $why if !$files{$why};
            push @{$files{$why}}, $here{$why} ? "$here{$why} of $file" : $file;
        }
    }
    return "Skipped: nothing\n" if !@reasons;
    return "Skipped: " . join('; ', map { join(', ', @{$files{$_}}) . " ($_)" } @reasons) . "\n";
}

# As prove has it, but the last two lines come last.
sub summary {
    my ($self, $all, @more) = @_;
    my $report = '';
    {
        open my $to, '>', \$report or die;
        my $stdout = $self->stdout;
        $self->stdout($to);
        $self->SUPER::summary($all, @more);
        $self->stdout($stdout);
    }
    my ($end) = $report =~ s/^(Files=.*)\z//ms ? $1 : '';
    $self->_output($report, what_failed($all), what_was_skipped($all), $end);
}
1;
