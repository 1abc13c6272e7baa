#!/bin/sh
# Creates a CA, certificates for shop.example.com and api.example.com, and a client certificate in tls/ next to this file.
set -eu
cd "$(dirname "$0")" && mkdir -p tls && cd tls
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj '/CN=Example authority' 2> /dev/null
for name in shop.example.com api.example.com client; do
  openssl req -newkey rsa:2048 -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$name" 2> /dev/null
  printf 'subjectAltName=DNS:%s' "$name" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile "$name.ext" -out "$name.new" 2> /dev/null
  mv "$name.new" "$name.pem"
  rm "$name.csr" "$name.ext"
done
rm ca.srl
