#!/usr/bin/perl
# rules_hold_in_nginx.t - a real nginx with the module: rules, failures, replaced files, odd keys.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

my $build = $ENV{BUILD} || 'build';
chomp(my $root = `pwd`);
$build = "$root/$build" unless $build =~ m{^/};
my $module = "$build/nginx/ngx_http_seen_module.so";
plan skip_all => 'the nginx module is not built here' unless -e $module;
my $nginx = (grep { -f && -x } map { "$_/nginx" } split(/:/, "$ENV{PATH}:/usr/sbin:/sbin"))[0];
plan skip_all => 'package nginx is not installed' unless $nginx;
plan skip_all => 'package curl is not installed' if system('curl --version >/dev/null 2>&1');

my $dir = tempdir('seen-nginx-XXXXXX', TMPDIR => 1, CLEANUP => 1);
# A free port below those that connections take for themselves.
sub free_port {
    while (1) {
        my $p = 10000 + int rand 20000;
        return $p if IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$p", ReuseAddr => 1);
    }
}
my $port = free_port();
my $user = $> == 0 ? 'user root;' : '';

sub spew { my ($name, $text) = @_; open my $f, '>', "$dir/$name" or die $!; print $f $text; close $f }
sub slurp { my ($name) = @_; open my $f, '<', "$dir/$name" or return ''; local $/; <$f> // '' }

# Makes filter NAME of LINES and renames it into place.
sub filter {
    my ($name, $lines, @more) = @_;
    open my $p, '|-', "$build/tests/nginx/make_filter", "$dir/$name.new", @more or die $!;
    print $p map { "$_\n" } @$lines;
    close $p or die "make_filter failed";
    rename "$dir/$name.new", "$dir/$name" or die $!;
}

sub config {
    my ($http) = @_;
    return <<END;
load_module $module;
$user
worker_processes 2;
pid $dir/nginx.pid;
error_log $dir/error.log info;
events { worker_connections 512; }
http {
    log_format seen '\$request \$status \$seen_result \$seen_filter';
    access_log $dir/access.log seen;
    client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3;
    uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
    large_client_header_buffers 4 256k;
$http
}
END
}

# What nginx -t says of a configuration.
sub check_config {
    my ($http) = @_;
    spew('try.conf', config($http));
    return scalar `$nginx -t -p $dir -c $dir/try.conf 2>&1`;
}

# Sends TEXT as it is and returns the answer.
sub raw {
    my ($text) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 60)
        or return '';
    print $s $text;
    my $answer = '';
    local $SIG{ALRM} = sub { close $s };
    alarm 60;
    while (sysread $s, my $part, 65536) { $answer .= $part }
    alarm 0;
    return $answer;
}
sub status { my ($answer) = @_; return $answer =~ m{^HTTP/1\.\d (\d+)} ? $1 : 0 }
# The status for PATH, through curl.
sub get { my ($path) = @_; chomp(my $s = `curl -s --noproxy '*' -o /dev/null -w '%{http_code}' 'http://127.0.0.1:$port$path'`); $s }
# The same for a key that no shell should see.
sub ask { my ($path) = @_; status(raw("GET $path HTTP/1.0\r\nHost: x\r\n\r\n")) }
# Waits until CODE answers for PATH twenty times in a row, so that both workers know.
sub settle {
    my ($path, $code) = @_;
    my $end = time + 60;
    my $row = 0;
    while (time < $end && $row < 20) { $row = get($path) eq $code ? $row + 1 : 0; sleep 0.01 }
    return $row >= 20;
}
# Waits until FOUND is true; returns what it gave.
sub until_true {
    my ($found) = @_;
    my $end = time + 60;
    my $got;
    until ($got = $found->() or time > $end) { sleep 0.01 }
    return $got;
}
# The last word of the log on request number N, which is written after the answer.
sub logged {
    my ($n) = @_;
    return until_true(sub { (grep { /[?&]n=\Q$n\E / } slurp('access.log') =~ /(.*)\n/g)[-1] }) // '';
}

# ---- configuration -----------------------------------------------------------------

my $base = "seen_filter ids $dir/ids.seen;";
like check_config("$base server { location / { seen_require other \$arg_id; } }"),
    qr/no seen_filter is named "other"/, 'a rule needs its filter';
like check_config("$base server { seen_status 200; }"), qr/must be 400 to 599/,
    'a status that says yes is refused';
like check_config("seen_filter ids $dir/ids.seen fail=maybe;"), qr/"fail=maybe" is not understood/,
    'a wrong option is named';
like check_config("seen_filter ids $dir/ids.seen format=dentist;"), qr/"format=dentist" is not understood/,
    'an unknown format too';
like check_config("$base $base"), qr/exists already/, 'a filter has one file';
like check_config("$base server { seen_require ids \$uri all; }"), qr/after a key of the form \$arg_NAME/,
    '"all" is for arguments only';
like check_config("$base server { location / { seen_status_page xml; } }"), qr/must be json or prometheus/,
    'a status page has two formats';
{
    # A pipe at the path must not hang anybody, now or in a worker.
    system("mkfifo $dir/pipe.seen") == 0 or die;
    local $SIG{ALRM} = sub { die "hangs\n" };
    my $said = eval { alarm 60; my $s = check_config("seen_filter pipe $dir/pipe.seen;"); alarm 0; $s } // $@;
    like $said, qr/cannot be used yet.*not a regular file.*test is successful/s, 'nginx -t does not wait for a pipe';
}
like check_config($base), qr/cannot be used yet.*No such file.*test is successful/s,
    'a missing file is a warning, not an error';

# What the document shows is a configuration.
{
    open my $doc, '<', "$root/docs/nginx.md" or die $!;
    my $text = join '', <$doc>;
    my ($http) = $text =~ /```nginx\n(seen_filter ids .*?)```/s or die 'no example in docs/nginx.md';
    my ($more) = $text =~ /```nginx\n(seen_filter blacklist .*?)```/s or die 'no second example';
    my ($inner) = $text =~ /```nginx\n(location .*?)```/s or die 'no third example';
    $http =~ s{server \{}{$more server \{ $inner};
    s{/var/lib/seen|/var/log/nginx}{$dir}g, s{listen 8080}{listen 127.0.0.1:$port} for $http;
    like check_config($http), qr/test is successful/, 'the examples of docs/nginx.md are sound';
}

# ---- rules ---------------------------------------------------------------------------

my $long = 'k' x 65536;
my $bytes = "\xff\xfe\x80bad";
filter('ids.seen', [ 1 .. 100, $long, $bytes, 'a%00b' ]);
filter('black.seen', [ "http://127.0.0.1/evil" ]);
filter('all.seen', [ 'x' ], 1);    # one bit, and it is set: holds everything
filter('copied.seen', [ 1 ]);
my $cli = -x "$build/seen" ? "$build/seen" : '';
system("$cli new --kind guava -n 1000 -e 1e-6 $dir/java.bin && echo alpha | $cli add $dir/java.bin")
    if $cli;
spew('exact.txt', "http://127.0.0.1/confirmed\n");
mkdir "$dir/www";
spew("www/$_", "here\n") for qw(index.html evil fine confirmed);
spew('www/sorry.html', "sorry\n");

my $rules = <<'END' =~ s/DIR/$dir/gr;
    seen_filter ids    DIR/ids.seen check=50ms;
    seen_filter black  DIR/black.seen check=50ms;
    seen_filter listed DIR/all.seen list=DIR/exact.txt check=50ms;
    seen_filter java   DIR/java.bin format=guava check=50ms;
    seen_filter copied DIR/copied.seen load=on check=50ms;
    seen_filter later  DIR/later.seen fail=open check=50ms;
    seen_filter strict DIR/strict.seen fail=closed check=50ms;
    seen_filter pipe   DIR/pipe.seen fail=open check=50ms;
    server {
        listen 127.0.0.1:PORT reuseport;
        root DIR/www;
        location /item { seen_require ids $arg_id; try_files /index.html =500; }
        location /gone { seen_require ids $arg_id; seen_status 410; try_files /index.html =500; }
        location /dry { seen_require ids $arg_id; seen_dry_run on; try_files /index.html =500; }
        location /page { seen_require ids $arg_id; error_page 404 /sorry.html; try_files /index.html =500; }
        location /moved { rewrite ^ /item last; }
        location /open { seen_require later $arg_id; try_files /index.html =500; }
        location /closed { seen_require strict $arg_id; try_files /index.html =500; }
        location /both { seen_require ids $arg_id; seen_refuse black http://127.0.0.1/$arg_w; try_files /index.html =500; }
        location /listed { seen_refuse listed http://127.0.0.1/$arg_w; try_files /index.html =500; }
        location / { seen_refuse black $scheme://$host$uri; }
        location /java { seen_require java $arg_id; try_files /index.html =500; }
        location /copied { seen_require copied $arg_id; try_files /index.html =500; }
        location /free { try_files /index.html =500; }
        location /pipe { seen_require pipe $arg_id; try_files /index.html =500; }
        location /every { seen_require ids $arg_id all; try_files /index.html =500; }
        location /none { seen_refuse ids $arg_id all; try_files /index.html =500; }
        location = /auth { internal; seen_require ids $id; seen_status 403; try_files /dev/null =204; }
        location /asked { set $id $arg_id; auth_request /auth; try_files /index.html =500; }
        location /status { seen_status_page; }
        location /metrics { seen_status_page prometheus; }
    }
END
for (1 .. 10) {
    spew('nginx.conf', config($rules =~ s/PORT/$port/gr));
    last if system("$nginx -p $dir -c $dir/nginx.conf 2>$dir/start.log") == 0;
    slurp('start.log') =~ /in use/ or last;    # somebody else was quicker
    $port = free_port();
}
-e "$dir/nginx.pid" or BAIL_OUT('nginx does not start: ' . slurp('start.log'));
END {
    my $code = $?;
    if ($dir && -e "$dir/nginx.pid" && (my $p = slurp('nginx.pid') + 0)) {
        kill 'TERM', $p;
        until_true(sub { !kill 0, $p });
    }
    $? = $code;
}

is get('/item?id=42&n=1'), 200, 'a key in the filter passes';
like logged(1), qr/ 200 pass ids$/, 'and the log says so';
is get('/item?id=101&n=2'), 404, 'a key that is not there is refused';
like logged(2), qr/ 404 refused ids$/, 'and the log says so';
is get('/gone?id=101'), 410, 'seen_status names another code';
is get('/dry?id=101&n=3'), 200, 'a dry run refuses nothing';
like logged(3), qr/ 200 dry ids$/, 'but the log tells what it would';
like raw("GET /page?id=no&n=4 HTTP/1.0\r\nHost: x\r\n\r\n"), qr/404.*sorry/s,
    'an error page is shown';
like logged(4), qr/ 404 refused ids$/, 'and the log still knows why';
is get('/moved?id=101'), 404, 'a rewrite does not lead around the rule';
is get('/moved?id=42'), 200, 'nor into a wall';
is get('/evil'), 403, 'seen_refuse refuses what the filter holds';
is get('/fine'), 200, 'and lets others pass';
is get('/both?id=5&w=fine'), 200, 'two rules: both must agree';
is get('/both?id=5&w=evil'), 403, 'two rules: the second refuses';
is get('/both?id=no&w=evil'), 404, 'two rules: the first speaks first';
is get('/listed?w=innocent'), 200, 'a false positive that the exact list denies passes';
is get('/listed?w=confirmed'), 403, 'one that it confirms is refused';
is get('/free?id=no&n=5'), 200, 'a location without rules is left alone';
like logged(5), qr/ 200 - -$/, 'and logged as such';
is status(raw("POST /item?id=no HTTP/1.0\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")), 404,
    'a request with a body is refused in peace';

SKIP: {
    skip 'the command is not built here', 3 unless $cli;
    is get('/java?id=alpha'), 200, 'a filter made by another system is asked in its own way';
    is get('/java?id=beta'), 404, 'and refuses';
    system("echo 4711 | $cli add $dir/ids.seen") == 0 or diag 'seen add failed';
    ok settle('/item?id=4711', 200), "what 'seen add' has added is seen without a reload";
}

# ---- subrequests, repeated arguments, the status page ----------------------------------

is get('/asked?id=42&n=20'), 200, 'auth_request: a rule inside lets a key pass that is in';
is get('/asked?id=101&n=21'), 403, 'and refuses one that is not';
like logged(21), qr/ 403 refused ids$/, 'and the log of the request says so';
is get('/item?id=2&id=none'), 200, 'of an argument given twice, $arg_ is the first';
is get('/item?id=none&id=2'), 404, 'whatever comes after it';
is get('/every?id=2&id=3&x=none'), 200, 'with "all", every one is asked';
is get('/every?id=2&id=none'), 404, 'a second one that is not in the filter is refused';
is get('/every?id=2&ID=none'), 404, 'however its name is written';
is get('/every?xid=none&id=2'), 200, 'but not an argument of another name';
is get('/every'), 404, 'and none at all is the empty key';
is get('/none?id=none&id=3'), 403, 'for seen_refuse one that is in the filter is enough';
is get('/pipe?id=1'), 200, 'a pipe in the place of a filter stops no worker';

sub page { my ($path) = @_; my $a = raw("GET $path HTTP/1.0\r\nHost: x\r\n\r\n"); $a =~ s/.*?\r\n\r\n//s; $a }
{
    my $text = page('/status');
    like $text, qr/^\{"worker":\d+,"filters":\[\{.*\}\]\}\n$/, 'the status page is JSON';
    SKIP: {
        eval { require JSON::PP } or skip 'perl has no JSON::PP', 3;
        my $all = JSON::PP::decode_json($text);
        my %by = map { $_->{name} => $_ } @{ $all->{filters} };
        is_deeply [ sort keys %by ], [ sort qw(ids black listed java copied later strict pipe) ], 'with every filter';
        my $f = $by{ids};
        ok $f->{asked} == $f->{pass} + $f->{refused} + $f->{dry} + $f->{open} + $f->{closed}
            && $f->{pass} >= 4 && $f->{refused} >= 4 && $f->{dry} >= 1 && $f->{keys} > 90 && $f->{keys} < 120
            && $f->{error} < 1e-3 && $f->{age} >= 0, 'its counts, age, keys and error';
        ok !$by{pipe}{usable} && $by{pipe}{reason} =~ /not a regular file/ && $by{pipe}{open} >= 1,
            'and why one cannot be used';
    }
    my ($before) = page('/metrics') =~ /^seen_questions_total\{filter="ids",result="refused"\} (\d+)$/m;
    get('/item?id=none') for 1 .. 10;
    my ($after) = page('/status?format=prometheus') =~ /^seen_questions_total\{filter="ids",result="refused"\} (\d+)$/m;
    is $after - $before, 10, 'Prometheus text counts what all workers refused';
    like page('/metrics'), qr/^# TYPE seen_filter_keys gauge\nseen_filter_keys\{filter="ids"\} \d+/m, 'and has the gauges';
}

# ---- odd keys --------------------------------------------------------------------------

is ask('/item'), 404, 'no key at all: the empty key, which is not in';
is ask('/item?id='), 404, 'an empty key';
is ask("/item?id=$long"), 200, 'a key of 64 KB that is in';
is ask("/item?id=${long}x"), 404, 'one byte more that is not';
is ask("/item?id=$bytes"), 200, 'invalid UTF-8 that is in';
is ask("/item?id=${bytes}\xc0\xaf"), 404, 'invalid UTF-8 that is not';
is ask('/item?id=a%00b'), 200, 'an escaped NUL is three characters in $arg_';
is ask("/item?id=a\0b"), 400, 'a bare NUL is stopped by nginx itself';
is ask('/x%00y'), 400, 'and so is one in the path';
is ask('/item?id=42'), 200, 'and the workers are still there';

# ---- missing, damaged, replaced ----------------------------------------------------------

is get('/open?id=1&n=6'), 200, 'without a file, fail=open passes';
like logged(6), qr/ 200 open later$/, 'and the log says so';
is get('/closed?id=1&n=7'), 503, 'without a file, fail=closed answers 503';
like logged(7), qr/ 503 closed strict$/, 'and the log says so';
like slurp('error.log'), qr/\[error\].*filter "later" cannot be used .*No such file.*let every request pass/,
    'the error log is loud: open';
like slurp('error.log'), qr/\[error\].*filter "strict" cannot be used .*No such file.*answer 503/,
    'the error log is loud: closed';
filter('later.seen', [ 1 ]);
filter('strict.seen', [ 1 ]);
ok settle('/open?id=2', 404) && settle('/open?id=1', 200), 'a file that appears is used without a reload';
ok settle('/closed?id=1', 200), 'for fail=closed too';

# With load=on the file may be written over in place: the workers have a copy.
my $copy = slurp('ids.seen');
spew('copied.seen', '');
sleep 0.2;
is get('/copied?id=1'), 200, 'load=on: a file cut short in place does no harm';
spew('copied.seen', $copy);
ok settle('/copied?id=42', 200), 'and the next one is taken';

# Damage in the body, in the header, a cut file and an empty one; the old one serves.
my $good = slurp('ids.seen');
my %bad = (body => substr($good, 0, 4100) . chr(ord(substr $good, 4100, 1) ^ 1) . substr($good, 4101),
           header => substr($good, 0, 40) . "\xff" . substr($good, 41),
           cut => substr($good, 0, length($good) / 2), empty => '');
for my $what (sort keys %bad) {
    my $before = () = slurp('error.log') =~ /filter "ids" cannot be used/g;
    spew('ids.new', $bad{$what});
    rename "$dir/ids.new", "$dir/ids.seen";
    my $both = until_true(sub {
        my $after = () = slurp('error.log') =~ /filter "ids" cannot be used .*the one before stays in use/g;
        $after >= $before + 2;
    });
    ok $both && get('/item?id=42') == 200 && get('/item?id=101') == 404,
        "a damaged file ($what) is reported by both workers, and the old one stays";
}
filter('ids.seen', [ 42, 101 ]);
ok settle('/item?id=101', 200) && get('/item?id=43') == 404, 'a sound file is then taken';

# Replaced a hundred times under load: no request fails, no worker dies.
SKIP: {
    skip 'package wrk is not installed', 3 if system('command -v wrk >/dev/null 2>&1');
    my @pids = sort split ' ', `pgrep -P @{[slurp('nginx.pid') + 0]}`;
    my $load = open my $wrk, '-|', "exec wrk -t1 -c16 -d600s --timeout 60s 'http://127.0.0.1:$port/item?id=42' 2>&1"
        or die $!;
    my $swaps = 0;
    for (1 .. 100) { filter('ids.seen', [ 42, "swap$swaps" ]); $swaps++; sleep 0.03 }
    kill 'INT', $load;    # it then tells what it has seen
    my $report = join '', <$wrk>;
    close $wrk;
    ok $report =~ /(\d+) requests in/ && $1 > 1000
        && $report !~ /Non-2xx|Socket errors/, "$swaps files renamed under load: every request answered 200"
        or diag $report;
    is_deeply [ sort split ' ', `pgrep -P @{[slurp('nginx.pid') + 0]}` ], \@pids,
        'by the same workers';
    ok settle('/item?id=swap' . ($swaps - 1), 200) && settle('/item?id=swap0', 404),
        'and the last file is the one in use';
}
my $log = slurp('error.log');
unlike $log, qr/\[(alert|emerg|crit)\]|exited on signal/, 'the error log holds no accident';

# A worker that starts while the file is damaged gets what the others have. The version
# that the master could have read when it started was another one.
{
    filter('ids.seen', [ 42, 'latest' ]);
    ok settle('/item?id=latest', 200), 'a last good file';
    rename "$dir/ids.seen", "$dir/ids.kept";
    spew('ids.seen', 'nonsense');
    my $master = slurp('nginx.pid') + 0;
    my %old = map { $_ => 1 } split ' ', `pgrep -P $master`;
    kill 'KILL', keys %old;
    until_true(sub { my @new = split ' ', `pgrep -P $master`; @new == 2 && !grep { $old{$_} } @new });
    ok settle('/item?id=latest', 200) && settle('/item?id=none', 404),
        'after kill -9 of all workers the new ones use the last good file';
    like page('/status'), qr/"name":"ids"[^}]*"usable":true,"current":false/, 'and say that it is not the current one';
    rename "$dir/ids.kept", "$dir/ids.seen";
    ok settle('/item?id=42', 200) && page('/status') =~ /"name":"ids"[^}]*"usable":true,"current":true/,
        'until the file is mended';
}
system("$nginx -p $dir -c $dir/nginx.conf -s reload 2>>$dir/start.log");
ok settle('/item?id=42', 200), 'an ordinary reload still works';

# A reload starts new workers, too. Both rules are asked until the old workers are gone.
rename "$dir/ids.seen", "$dir/ids.kept";
rename "$dir/strict.seen", "$dir/strict.kept";
spew($_, 'nonsense') for 'ids.seen', 'strict.seen';
like `$nginx -p $dir -c $dir/nginx.conf -t 2>&1`, qr/"ids" cannot be used yet.*test is successful/s,
    'nginx -t warns of a damaged file';
my %old = map { $_ => 1 } split ' ', `pgrep -P @{[slurp('nginx.pid') + 0]}`;
system("$nginx -p $dir -c $dir/nginx.conf -s reload 2>>$dir/start.log");
until_true(sub { !grep { $old{$_} } split ' ', `pgrep -P @{[slurp('nginx.pid') + 0]}` });
ok settle('/item?id=none', 404) && settle('/closed?id=1', 200),
    'after a reload with a damaged file the last good one serves';
like page('/status'), qr/"name":"ids"[^}]*"refused":[1-9]/, 'and the counters go on';
spew('nginx.conf', slurp('nginx.conf') =~ s{ids\.seen check}{ids2.seen check}r);
spew('ids2.seen', 'nonsense');
system("$nginx -p $dir -c $dir/nginx.conf -s reload 2>>$dir/start.log");
ok settle('/item?id=none', 200), 'a file of another name has none yet: fail= decides';
rename "$dir/ids.kept", "$dir/ids2.seen";
ok settle('/item?id=none', 404) && settle('/item?id=42', 200), 'until it is mended';
done_testing;
