#!/bin/sh
# Creates the bucket and a user for each service with the permissions that it needs. Idempotent; a secret that changes in
# the environment changes in the store, too. MC_HOST_store contains the address and the root user.
set -eu

# Right after a start, the name of the store may not resolve yet.
tries=10
until mc mb --ignore-existing "store/$S3_BUCKET"; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || exit 1
  sleep 2
done

# user NAME ACCESS_KEY SECRET_KEY: creates a user with the policy NAME, read from standard input.
user() {
  policy=${TMPDIR:-/tmp}/$1.json
  cat >"$policy"
  mc admin policy create store "$1" "$policy"
  mc admin user add store "$2" "$3"
  output=$(mc admin policy attach store "$1" --user "$2" 2>&1) || case $output in
    *"already in effect"*) ;;
    *)
      echo "$output" >&2
      exit 1
      ;;
  esac
}

# The control plane reads and deletes objects and aborts unfinished uploads. It stores none.
user framelane-control-plane "$CONTROL_PLANE_ACCESS_KEY_ID" "$CONTROL_PLANE_SECRET_ACCESS_KEY" <<JSON
{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Action": ["s3:ListBucket", "s3:ListBucketMultipartUploads"],
      "Resource": ["arn:aws:s3:::$S3_BUCKET"]
    },
    {
      "Effect": "Allow",
      "Action": ["s3:GetObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
      "Resource": ["arn:aws:s3:::$S3_BUCKET/*"]
    }
  ]
}
JSON

user framelane-engine "$ENGINE_ACCESS_KEY_ID" "$ENGINE_SECRET_ACCESS_KEY" <<JSON
{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Action": ["s3:ListBucket"],
      "Resource": ["arn:aws:s3:::$S3_BUCKET"]
    },
    {
      "Effect": "Allow",
      "Action": [
        "s3:GetObject",
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        "s3:ListMultipartUploadParts"
      ],
      "Resource": ["arn:aws:s3:::$S3_BUCKET/*"]
    }
  ]
}
JSON
