#!/bin/sh
# Starts RabbitMQ with the users of definitions.sh. It imports them at each start: a password that changed in the
# environment changes in the broker.
set -eu
umask 077
sh /etc/framelane/definitions.sh >/tmp/definitions.json
exec docker-entrypoint.sh rabbitmq-server
