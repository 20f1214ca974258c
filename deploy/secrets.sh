#!/bin/sh
# Makes the secrets of docker-compose.yml, once: sh deploy/secrets.sh [folder]
# Only you may enter the folder. The files are readable, as each container reads them under an account of its own.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
umask 022
mkdir -m 700 "$folder"
cd "$folder"

password() { openssl rand -hex 32; }
mongodb=$(password)
redis=$(password)

echo "1:$(openssl rand -base64 33)" > session-keys
password > mongodb-root-password
echo "$mongodb" > mongodb-password
openssl rand -base64 756 > mongodb-keyfile
echo "mongodb://plaza:$mongodb@mongodb:27017/plaza?replicaSet=plaza" > mongodb-uri
printf 'appendonly yes\nrequirepass %s\n' "$redis" > redis-conf
echo "redis://:$redis@redis:6379" > redis-url
# Stays empty until letters are to be sent: smtps://user:password@host:port
: > mail-url
