#!/bin/bash
# Runs HAProxy and nginx. A signal stops both in order; when one ends, the other is stopped as well.
set -eu

if [ "$GATEWAY_CACHE_GIB" = 0 ]; then
  cache='s/proxy_cache segments;/proxy_cache off;/'
else
  cache="s/max_size=10g/max_size=${GATEWAY_CACHE_GIB}g/"
fi
sed "$cache" /etc/framelane/nginx.conf >/tmp/nginx.conf

haproxy -W -db -f /etc/haproxy/haproxy.cfg &
haproxy=$!
nginx -e stderr -c /tmp/nginx.conf -g 'daemon off;' &
nginx=$!
stop() {
  kill -QUIT "$nginx" 2>/dev/null || true
  kill -USR1 "$haproxy" 2>/dev/null || true
}
signalled=no
trap 'signalled=yes; stop' USR1 TERM INT
status=0
wait -n || status=$?
if [ "$signalled" = yes ]; then status=0; fi
stop
# A signal interrupts a wait.
while kill -0 "$haproxy" 2>/dev/null || kill -0 "$nginx" 2>/dev/null; do
  wait || true
done
exit "$status"
