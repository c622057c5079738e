#!/bin/sh
# Prints the users of the broker and their permissions as definitions, which RabbitMQ imports at each start. The passwords
# come from the environment and contain only letters and digits.
#
# "framelane" is the administrator. "control-plane" declares the exchange and the queues, and has no access to others.
# "engine" declares and deletes nothing, consumes commands and publishes events. docs/deployment.md has commands for the
# same permissions.
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
      "configure": "^(framelane|(engine\\\\.\\\\w+|control-plane\\\\.events)(\\\\.dead)?)\$",
      "write": "^(framelane|amq\\\\.default|(engine\\\\.\\\\w+|control-plane\\\\.events)(\\\\.dead)?)\$",
      "read": "^(framelane|(engine\\\\.\\\\w+|control-plane\\\\.events)(\\\\.dead)?)\$"
    },
    {
      "user": "engine",
      "vhost": "/",
      "configure": "^\$",
      "write": "^framelane\$",
      "read": "^engine\\\\.\\\\w+\$"
    }
  ],
  "topic_permissions": [
    {
      "user": "engine",
      "vhost": "/",
      "exchange": "framelane",
      "write": "^(upload\\\\.|transcode\\\\.|task\\\\.|probe\$)",
      "read": "^\$"
    }
  ]
}
JSON
