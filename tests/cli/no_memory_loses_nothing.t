#!/usr/bin/perl
# Every allocation of every command fails once, one run for each: the run ends with
# status 2 and one line, or does its work as if nothing had happened; files that it would
# have changed are the old ones or the whole new ones, and nothing is left beside them.
# EVERY=1 tries every call; by default calls beyond the first 40 are sampled.
use strict;
use warnings;
use Cwd;
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);

my $top = getcwd;
my $build = $ENV{BUILD} || 'build';
$ENV{PATH} = ($build =~ m{^/} ? $build : getcwd . "/$build") . ":$ENV{PATH}";
my $dir = tempdir(CLEANUP => 1);
my $cc = $ENV{CC} || 'cc';
system("$cc -O1 -fPIC -shared -o $dir/fail.so $top/tests/cli/failing_malloc.c -ldl") == 0 or die;
chdir $dir or die;
if (system("LD_PRELOAD=$dir/fail.so FAIL_AT=1000000 seen --version >/dev/null 2>&1") != 0) {
    print "1..0 # SKIP nothing can be preloaded here\n";
    exit 0;
}
mkdir 'run';
$ENV{TMPDIR} = "$dir/tmp";
mkdir 'tmp';
$ENV{SEEN_SEED} = 1;
sub sh { system('sh', '-c', $_[0]) == 0 or die "$_[0] failed" }
sh('seq 1 3000 >in; seq 2000 4000 >more; gzip -c in >in.gz; zstd -qc in >in.zst; bzip2 -c in >in.bz2;
    xz -c in >in.xz; lz4 -qc in >in.lz4;
    seen new --seed 3 -n 500 f.seen; seen add f.seen in; cp f.seen g.seen; seen add g.seen more;
    seen new -r -n 100 c.seen; seen add c.seen more; seen new --kind guava -n 100 -e 0.01 f.guava;
    seen new --kind parquet -n 100 f.sbbf; seen uniq -s state more >/dev/null;
    for i in 1 2 3 4 5 1 2; do echo "{\"text\": \"document number $i has some words that others have not, and some more\"}"; done >docs.jsonl;
    seen has f.seen /dev/null; seen excuse -q f.seen xyzzy; true');

# What is run, and the files it may change.
my @commands = (
    ['uniq in more', ''], ['uniq -o out in', 'out'], ['uniq -j 2 in more', ''],
    ['uniq -s state -o out -D dups in', 'out dups state'], ['uniq -s fresh in', 'fresh'],
    ['uniq -x -o out in in.gz', 'out'], ['uniq -m 8K -q in', ''], ['uniq -e 0.01 in.zst', ''],
    ['uniq --against f.seen --against more in', ''], ['uniq -u -i in.bz2', ''], ['uniq --csv -k 1 in.xz', ''],
    ['uniq in.lz4', ''], ['uniq --count -o out in more', 'out'], ['uniq --count -q -m 8K in.gz', ''], ['new new.seen', 'new.seen'], ['new --like f.seen new.seen', 'new.seen'],
    ['new --kind guava -n 100 -e 0.1 new.guava', 'new.guava'], ['add f.seen more', 'f.seen f.seen.excused'],
    ['add f.guava in', 'f.guava'], ['rm c.seen more', 'c.seen'], ['has f.seen more', ''],
    ['has -o out f.seen more', 'out'], ['has - more <f.seen', ''],
    ['merge -o g.seen f.seen g.seen', 'g.seen g.seen.excused'], ['build -f built.seen in', 'built.seen'],
    ['convert --to native f.sbbf new.seen', 'new.seen'], ['info f.seen f.guava', ''], ['info --json f.seen', ''],
    ['verify f.seen', ''], ['excuse f.seen 17x', 'f.seen.excused'], ['sort -o out in', 'out'],
    ['count -b 1 -w 1 in', ''], ['plan --no-time -n 1000 --plot p.svg', 'p.svg'], ['formats --json', ''],
    ['help --man uniq', ''], ['count --top 3 in more', ''], ['count --quantiles in', ''],
    ['partition -N 3 -o parts in', 'parts'], ['dedup -q -o out docs.jsonl', 'out'],
    ['dedup -q --by document -n 1000 docs.jsonl', ''],
);
my @files = grep { -f } glob '*';
my $test = 0;
my $bad = 0;
sub slurp { open my $f, '<:raw', $_[0] or return undef; local $/; my $s = <$f>; $s // '' }
my %was = map { $_ => slurp($_) } @files;
# As before the run, without a process for it: there are two thousand runs.
sub reset_run {
    remove_tree(grep { !defined $was{(split m{/})[-1]} } glob 'run/*');
    for my $name (@files) {
        next if (slurp("run/$name") // '') eq $was{$name} && -e "run/$name";
        open my $f, '>:raw', "run/$name" or die;
        print $f $was{$name};
    }
}

for my $c (@commands) {
    my ($line, $may) = @$c;
    my %may = map { $_ => 1 } split ' ', $may;
    reset_run();
    my $status = system("cd run && seen $line >../good.out 2>../good.err") >> 8;
    my %good = map { $_ => slurp("run/$_") } keys %may;
    my @wrong;
    my $runs = 0;
    for (my $at = 1; ; $at += $ENV{EVERY} || $at < 40 ? 1 : int($at / 10)) {
        reset_run();
        unlink 'none';
        $runs++;
        my $rc = system("cd run && FAIL_AT=$at FAIL_NONE=../none LD_PRELOAD=../fail.so exec timeout 60 seen $line >../out 2>../err");
        my $signal = $rc & 127;
        $rc >>= 8;
        my $said = slurp('err');
        my $done = -e 'none';
        push @wrong, "call $at: signal $signal, status $rc: $said" if $signal || $rc >= 124 || ($rc != 2 && $rc != $status);
        push @wrong, "call $at: not one line: $said" if $rc == 2 && $status != 2 && ($said =~ tr/\n//) != 1;
        for my $f (glob 'run/*') {
            (my $name = $f) =~ s/^run\///;
            my $now = slurp($f);
            next if defined $was{$name} && $now eq $was{$name};
            next if $may{$name} && defined $good{$name} && $now eq $good{$name};
            next if $may{$name} && $name =~ /excused$/; # bound to the time of the file
            next if $may{$name} && system("cd run && seen verify $name >../verify.log 2>&1") == 0;
            push @wrong, "call $at: $name is neither the old nor the new one, or was left behind (status $rc)";
        }
        for my $name (keys %was) {
            push @wrong, "call $at: $name is gone" if !-e "run/$name";
        }
        push @wrong, "call $at: left in TMPDIR" if glob 'tmp/*';
        last if $done || @wrong > 5 || $at > 100000;
    }
    $test++;
    printf "%sok %d - seen %s: %d runs\n", @wrong ? 'not ' : '', $test, $line, $runs;
    print map { chomp; "# $_\n" } @wrong[0 .. ($#wrong < 4 ? $#wrong : 4)] if @wrong;
    $bad = 1 if @wrong;
}
print "1..$test\n";
exit $bad;
