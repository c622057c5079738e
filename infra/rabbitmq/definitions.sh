#!/bin/sh
# Prints the users of the broker and their rights, as definitions that RabbitMQ imports at each start. The passwords are
# letters and digits, from the environment.
#
# "framelane" administers. "control-plane" declares the exchange and the queues, and has no access to others. "engine"
# declares and deletes nothing, consumes commands and publishes events: docs/deployment.md has the same rights as commands.
set -eu
cat <<JSON
{
  "vhosts": [{ "name": "/" }],
  "users": [
    { "name": "framelane", "password": "$RABBITMQ_PASSWORD", "tags": "administrator" },
    { "name": "control-plane", "password": "$RABBITMQ_CONTROL_PLANE_PASSWORD", "tags": "" },
    { "name": "engine", "password": "$RABBITMQ_ENGINE_PASSWORD", "tags": "" }
  ],
  "permissions": [
    { "user": "framelane", "vhost": "/", "configure": ".*", "write": ".*", "read": ".*" },
    {
      "user": "control-plane",
      "vhost": "/",
      "configure": "^(framelane|(engine\\\\.commands|control-plane\\\\.events)(\\\\.dead)?)\$",
      "write": "^(framelane|amq\\\\.default|(engine\\\\.commands|control-plane\\\\.events)(\\\\.dead)?)\$",
      "read": "^(framelane|(engine\\\\.commands|control-plane\\\\.events)(\\\\.dead)?)\$"
    },
    {
      "user": "engine",
      "vhost": "/",
      "configure": "^\$",
      "write": "^framelane\$",
      "read": "^engine\\\\.commands\$"
    }
  ],
  "topic_permissions": [
    {
      "user": "engine",
      "vhost": "/",
      "exchange": "framelane",
      "write": "^(upload\\\\.|transcode\\\\.|probe\$)",
      "read": "^\$"
    }
  ]
}
JSON
