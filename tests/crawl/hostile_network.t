#!/bin/bash
# hostile_network.t - a network that is not as one would like it: rules that cannot be had, hosts that
# are not there, names beyond ASCII, certificates, and pages that point inwards.
. "$(dirname "$0")/lib.sh"
fast="--allow-private --delay 0 --quiet --retry-wait 0.02"
export RES_OPTIONS="timeout:2 attempts:1" # where there is no network, it shows soon
notes() { awk -F'\t' '{ print $2, $7 }' "$dir/out" | sort | uniq -c | xargs; }

rules() {
    start_site --pages 40 --robots "$1"
    $crawl $fast --retries 2 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
    same "$3" "$2" "$(notes)"
    stop_site
}
rules 403 "40 200" "robots.txt 4xx: everything is allowed"
rules 500 "1 0 robots" "robots.txt 5xx: nothing is"
rules 429 "1 0 robots" "robots.txt 429: nothing is"
rules busy "40 200" "robots.txt 503 and then there: it counts"
rules maze "40 200" "robots.txt moved more than five times: as if there were none"
rules moved "10 0 robots 30 200" "robots.txt moved five times: the last one counts"

start_site --pages 8 --robots delay
from=$(date +%s%N)
$crawl $fast "http://127.0.0.1:$port/p/0.html" >"$dir/out"
took=$((($(date +%s%N) - from) / 1000000))
[ $took -ge 800 ]
held "a Crawl-delay longer than ours counts: eight pauses of 0.1 s" $?
stop_site

e="--no-robots"
$crawl $fast $e --retries 1 "http://127.0.0.1:1/" >"$dir/out"
same "nobody listens: connect" "1 0 connect" "$(notes)"
$crawl $fast $e --retries 0 "http://no-such-host.invalid/" >"$dir/out"
same "no such name: dns" "1 0 dns" "$(notes)"
start_site --pages 5 --wait 5000
$crawl $fast $e --retries 1 --timeout 0.2 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "no answer in time: timeout" "1 0 timeout" "$(notes)"
stop_site
start_site --pages 30
$crawl $fast $e --resolve "xn--bcher-kva.example:$port:127.0.0.1" \
    "http://B%C3%BCcher.example:$port/p/0.html" >"$dir/out"
same "a name beyond ASCII is asked as xn--" \
    "http://xn--bcher-kva.example:$port/p/0.html	404" \
    "$(cut -f1,2 "$dir/out")"
stop_site
$crawl $fast --retries 0 "http://127.0.0.1:1/" >"$dir/out"
same "a host whose robots.txt cannot be asked is not asked for pages" "1 0 connect" "$(notes)"

# Pages and robots.txt of a public address that lead to a private one, in a network of
# our own where 93.184.216.34 is this machine.
if unshare -rn sh -c 'ip link set lo up && ip addr add 93.184.216.34/32 dev lo' 2>/dev/null; then
    cat >"$dir/inside" <<'END'
ip link set lo up
ip addr add 93.184.216.34/32 dev lo
crawl=$1 site=$2 dir=$3
"$site" --pages 3 --robots "$4" --port 8070 --out "http://$5:8070/inner" serve >"$dir/inport" &
pid=$!
while ! [ -s "$dir/inport" ] && kill -0 $pid; do sleep 0.02; done
"$crawl" --quiet --any-host --delay 0 --retries 0 \
    --resolve inner.example:8070:127.0.0.1 \
    http://93.184.216.34:8070/p/0.html http://93.184.216.34:8070/p/1.html >"$dir/out"
"$site" ask 8070 /_report >"$dir/report"
kill $pid
END
    for inner in 127.0.0.1 0x7f.1 localhost inner.example '[::ffff:7f00:1]' 0.0.0.0; do
        rm -f "$dir/inport"
        unshare -rn sh "$dir/inside" "$crawl" "$site" "$dir" 404 "$inner"
        same "a public page that redirects and links to $inner leads nowhere" \
            "2 0 private 1 200 1 302 0" \
            "$(notes) $(sed -n 's/^unknown \([0-9]*\).*/\1/p' "$dir/report")"
    done
    rm -f "$dir/inport"
    unshare -rn sh "$dir/inside" "$crawl" "$site" "$dir" inner 127.0.0.1
    same "a public robots.txt that redirects to 127.0.0.1 is not followed there" 0 \
        "$(sed -n 's/^unknown \([0-9]*\).*/\1/p' "$dir/report")"
else
    skip "no network of our own can be made here (unshare -rn is refused, or there is no ip)" 7
fi

# TLS and HTTP/2.
PATH=$PATH:/usr/sbin # which not everyone has there, but nginx is
if command -v nginx >/dev/null && command -v openssl >/dev/null; then
    mkdir -p "$dir/n/www" "$dir/n/logs"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$dir/n/key" -out "$dir/n/cert" 2>/dev/null
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "<a href=$(((i + 1) % 10)).html>x</a><a href='$(((i * 3) % 10)).html#y'>x</a>" >"$dir/n/www/$i.html"
    done
    for _ in 1 2 3 4 5; do
        tls=$(free_port)
        cat >"$dir/n/conf" <<END
daemon off; pid $dir/n/pid; error_log $dir/n/err; events {}
http { access_log $dir/n/access; types { text/html html; } gzip on; gzip_min_length 1;
  client_body_temp_path $dir/n/a; proxy_temp_path $dir/n/b; fastcgi_temp_path $dir/n/c;
  uwsgi_temp_path $dir/n/d; scgi_temp_path $dir/n/e;
  server { listen 127.0.0.1:$tls ssl http2; ssl_certificate $dir/n/cert; ssl_certificate_key $dir/n/key;
    ssl_client_certificate $dir/n/cert; ssl_verify_client optional;
    location /members/ { if (\$ssl_client_verify != SUCCESS) { return 403; } }
    root $dir/n/www; location /old/ { charset iso-8859-1; } } }
END
        [ "$(id -u)" != 0 ] || { echo "user root;" | cat - "$dir/n/conf" >"$dir/n/c2"; mv "$dir/n/c2" "$dir/n/conf"; }
        nginx -p "$dir/n" -e "$dir/n/err" -c "$dir/n/conf" 2>/dev/null &
        nginx_pid=$!
        until (: <"/dev/tcp/127.0.0.1/$tls") 2>/dev/null || ! kill -0 $nginx_pid 2>/dev/null; do
            sleep 0.05
        done
        kill -0 $nginx_pid 2>/dev/null && break # else somebody was quicker
    done
    pids="$pids $nginx_pid"
    $crawl $fast --retries 0 --insecure --warc "$dir/tls.warc.gz" "https://127.0.0.1:$tls/0.html" >"$dir/out"
    same "ten pages over TLS" "10 200" "$(notes)"
    # libcurl before 8.14.1 loses the end of some HTTP/2 streams (fetch_curl.c).
    http=2.0
    dpkg --compare-versions "$(curl-config --version | cut -d' ' -f2)" ge 8.14.1 || http=1.1
    logged() { grep -c "GET /[0-9].html HTTP/$http\" 200" "$dir/n/access"; }
    for _ in $(seq 600); do [ "$(logged)" -lt 10 ] && sleep 0.1; done # logged after the answer
    same "by HTTP/$http" 10 "$(logged)"
    same "archived with a status line" 10 \
        "$(gzip -dc "$dir/tls.warc.gz" | grep -ac '^HTTP/1.1 200')"
    same "and with the fields of the wire under other names" 10 \
        "$(gzip -dc "$dir/tls.warc.gz" | grep -aic '^X-Archive-Orig-content-encoding: gzip')"
    mkdir "$dir/n/www/members"
    echo members >"$dir/n/www/members/0.html"
    for how in "--cacert $dir/n/cert" "--insecure --cert $dir/n/cert --cert-key $dir/n/key"; do
        # shellcheck disable=SC2086
        $crawl $fast --retries 0 $how "https://127.0.0.1:$tls/members/0.html" >"$dir/out"
        case $how in *key) want="1 200" ;; *) want="1 403" ;; esac
        same "${how%% /*}: the page is fetched, and a client certificate opens what needs one" "$want" "$(notes)"
    done
    SSL_CERT_FILE=$dir/n/cert $crawl $fast --retries 0 "https://127.0.0.1:$tls/0.html" >"$dir/out"
    same "SSL_CERT_FILE names whom to trust" "10 200" "$(notes)"
    mkdir "$dir/n/www/old"
    printf '<a href="caf\351.html?q=\351&amp;&#8364;=1">x</a>' >"$dir/n/www/old/0.html"
    echo x >"$dir/n/www/old/$(printf 'caf\303\251').html"
    $crawl $fast --retries 0 --insecure "https://127.0.0.1:$tls/old/0.html" >"$dir/out"
    same "a page in another encoding: paths become UTF-8, queries stay in it" \
        "https://127.0.0.1:$tls/old/caf%C3%A9.html?q=%E9&%80=1	200" \
        "$(sed 1d "$dir/out" | cut -f1,2)"
    # Pages whose packed size is near that of a TLS record and an HTTP/2 frame (16 KiB): some
    # of them ended in a timeout, whole as they were.
    mkdir "$dir/n/www/big"
    perl -e 'srand 7; my $n = 240; for my $i (0 .. $n - 1) { open my $f, ">", "$ARGV[0]/$i.html";
        print $f join "", map "<a href=" . ($i * 3 + $_) % $n . ".html>x</a>\n", 1 .. 3;
        print $f pack "H*", join "", map { sprintf "3%d", rand 10 } 1 .. 32200 + 4 * $i }' "$dir/n/www/big"
    $crawl $fast --retries 0 --insecure --timeout 20 "https://127.0.0.1:$tls/big/0.html" >"$dir/out"
    same "pages around 16 KiB, packed, over TLS: none hangs" "240 200" "$(notes)"
    $crawl $fast --retries 0 "https://127.0.0.1:$tls/0.html" >"$dir/out"
    status=$?
    same "a certificate nobody signed is refused without --insecure" "1 0 tls" "$(notes)"
    same "and the reason is told" 1 "$(cut -f8 "$dir/out" | grep -ciE 'certificate|cert')"
    same "a crawl whose only seed fails ends with status 1" 1 $status
    ${crawl} --allow-private --retries 0 --no-robots "http://127.0.0.1:1/x" 2>"$dir/err" >"$dir/out"
    same "the summary names the page and the reason" "1 1" \
        "$? $(grep -c 'not fetched: connect (no connection: Connection refused): http://127.0.0.1:1/x' "$dir/err")"
    kill $nginx_pid
    wait $nginx_pid 2>/dev/null
else
    skip "nginx or openssl is not installed" 13
fi
mkdir "$dir/tmp"
TMPDIR="$dir/tmp" $crawl $fast "nonsense://x/" 2>/dev/null
same "a crawl that fails leaves no folder behind" "" "$(ls "$dir/tmp")"
finish
