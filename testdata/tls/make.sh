#!/bin/sh
# Makes the certificates anew: an authority, one for localhost, and one for another name.
set -eu
cd "$(dirname "$0")"
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
key authority
openssl req -x509 -new -key authority.key -sha256 -days 36500 -subj "/CN=nyssa tests" \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -out authority.pem
for name in localhost other.invalid; do
  key "$name"
  openssl req -new -key "$name.key" -subj "/CN=$name" -out request
  printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n' "$name" > extensions
  openssl x509 -req -in request -CA authority.pem -CAkey authority.key -days 36500 -sha256 \
    -extfile extensions -out "$name.pem"
done
rm -f authority.key request extensions *.srl
