#!/bin/bash
# Runs HAProxy and nginx. A signal stops nginx, which completes its requests, and then HAProxy. When one ends, the other is stopped
# as well.
set -eu

# An empty variable counts as unset.
export TRUSTED_PROXIES="${TRUSTED_PROXIES:-127.0.0.1/32}"
export PUBLIC_URL="${PUBLIC_URL:-http://localhost:8080}"
GATEWAY_CACHE_GIB=${GATEWAY_CACHE_GIB:-10}

if [ "$GATEWAY_CACHE_GIB" = 0 ]; then
  cache='s/proxy_cache segments;/proxy_cache off;/'
else
  cache="s/max_size=10g/max_size=${GATEWAY_CACHE_GIB}g/"
fi
sed "$cache" /etc/framelane/nginx.conf >/tmp/nginx.conf

# nginx adds the request to its error messages. The query of a URL contains playback tokens.
exec 3> >(sed --unbuffered 's/?[^" ]*//g' >&2)
messages=$!

signalled=no
trap 'signalled=yes' USR1 TERM INT

haproxy -W -db -f /etc/haproxy/haproxy.cfg 3>&- &
haproxy=$!
nginx -e stderr -c /tmp/nginx.conf -g 'daemon off;' 2>&3 3>&- &
nginx=$!

status=0
if [ "$signalled" = no ]; then wait -n "$haproxy" "$nginx" || status=$?; fi
if [ "$signalled" = yes ]; then status=0; fi

# stop <signal> <process>
stop() {
  # Repeated every 2 s, because HAProxy loses a signal that comes while it starts.
  while kill -"$1" "$2" 2>/dev/null; do
    for _ in {1..20}; do
      if ! kill -0 "$2" 2>/dev/null; then return; fi
      sleep 0.1
    done
  done
}
stop QUIT "$nginx"
stop USR1 "$haproxy"
exec 3>&-
wait "$messages" || true
exit "$status"
