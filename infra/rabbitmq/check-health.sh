#!/bin/bash
# Exits with 0 if the broker takes connections. Its port opens last, and the management page shows that more than the port is there.
# rabbitmq-diagnostics would take more than a second of processor time for each check.
set -eu
exec 3<>/dev/tcp/127.0.0.1/5672 4<>/dev/tcp/127.0.0.1/15672
printf 'GET / HTTP/1.0\r\n\r\n' >&4
grep -q '200 OK' <&4
