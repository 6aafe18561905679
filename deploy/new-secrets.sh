#!/bin/sh
# Makes the secrets that compose.yaml mounts, each a file of random letters and digits. Files that exist are kept.
# Containers run as users of their own, so the files can be read by all, and the folder by nobody but its owner.
# Other hosts than those of compose.yaml: POSTGRES_HOST, VALKEY_HOST, NATS=tls://achilles-nats:4222.
set -eu
postgres=${POSTGRES_HOST:-postgres}
valkey=${VALKEY_HOST:-valkey}
nats=${NATS:-nats://nats:4222}
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
umask 222

random() {
    # A leading letter: the bus would read some other values as numbers.
    printf 's%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
}

write() {
    if [ -e "$1" ]; then
        echo "kept    $1"
    else
        printf '%s\n' "$2" >"$1"
        echo "written $1"
    fi
}

write postgres_password "$(random)"
write database_url "postgresql://achilles:$(cat postgres_password)@$postgres:5432/achilles"
for user in achilles chat_api signal_worker trace_writer knowledge_store; do
    write "nats_url_$user" "${nats%%://*}://$user:$(random)@${nats#*://}"
done
write nats_passwords.conf "$(
    for user in achilles chat_api signal_worker trace_writer knowledge_store; do
        password=$(sed 's|^[a-z]*://[^:]*:||; s|@.*||' "nats_url_$user")
        echo "BUS_PASSWORD_$(echo "$user" | tr '[:lower:]' '[:upper:]'): \"$password\""
    done
)"
write valkey_password.conf "requirepass $(random)"
write redis_url "redis://:$(sed 's|^requirepass ||' valkey_password.conf)@$valkey:6379"
write knowledge_token "$(random)"
write metrics_token "$(random)"
# Yours to fill in, where the login or the model has a secret.
write oidc_client_secret ""
write model_api_key ""
chmod 644 oidc_client_secret model_api_key
