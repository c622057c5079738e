#!/bin/sh
# Starts RabbitMQ with the users of definitions.sh. Every start imports them, so a password that changes in the
# environment changes in the broker, too.
set -eu
umask 077
sh /etc/framelane/definitions.sh >/tmp/definitions.json
exec docker-entrypoint.sh rabbitmq-server
