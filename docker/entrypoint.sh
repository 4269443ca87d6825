#!/bin/bash
# Starts Triton with every pipeline of the model repository. Arguments go on to tritonserver.
#
# MODEL_REPOSITORY            the repository (/models)
# TRIREME_PIPELINES           names to load, separated by spaces; all pipelines when empty
# TRIREME_CONTROL_TOKEN_FILE  file with the token that opens the control APIs (/run/secrets/control_token)
# TRIREME_CONTROL_TOKEN       the token itself; the file goes first
# TRIREME_LOADED_FILE         where the loaded pipelines' names go, for the health check (/tmp/trireme-pipelines)
# TRIREME_EXIT_TIMEOUT_S      how long requests in flight may take to finish after SIGTERM (30)
# TRIREME_LATENCY_SUMMARIES   whether p50, p95 and p99 of every model are among the metrics (true); see `trireme serve`
# TRIREME_SHARED_MEMORY       whether clients may send data through system shared memory (false); see `trireme serve`
# TRIREME_ALLOCATOR           library to preload in place of glibc's memory allocator (mimalloc); none when empty
set -euo pipefail

readonly repository="${MODEL_REPOSITORY:-/models}"
readonly allocator="${TRIREME_ALLOCATOR-/opt/trireme/packages/cmeel.prefix/lib/libmimalloc.so}"
readonly loaded_file="${TRIREME_LOADED_FILE:-/tmp/trireme-pipelines}"
# Everything but health, metadata, inference and statistics.
control_apis="model-repository,model-config,shared-memory,trace,logging"

refuse() {
    printf 'entrypoint: %s\n' "$1" >&2
    exit 1
}

# A step comes with its pipeline: Triton loads what an ensemble is made of.
is_step() {
    local step
    for step in tokenizer encoder postprocess joined; do
        [[ "$1" == *_"${step}" && -f "${repository}/${1%_"${step}"}/config.pbtxt" ]] && return 0
    done
    return 1
}

pipelines() {
    local config name
    for config in "${repository}"/*/config.pbtxt; do
        name="$(basename "$(dirname "${config}")")"
        if [[ -f "${config}" ]] && ! is_step "${name}"; then printf '%s\n' "${name}"; fi
    done
}

# Without a token the control APIs are shut with one that nobody knows.
control_token() {
    local file="${TRIREME_CONTROL_TOKEN_FILE:-/run/secrets/control_token}" token=""
    if [[ -r "${file}" ]]; then token="$(tr -d '\r\n' < "${file}")"; fi
    token="${token:-${TRIREME_CONTROL_TOKEN:-}}"
    if [[ -z "${token}" ]]; then
        printf 'entrypoint: no control token: the control APIs are shut\n' >&2
        token="$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
    fi
    # Triton's flag has no quoting: a comma or a blank would change its meaning.
    [[ "${token}" =~ ^[A-Za-z0-9_-]{16,}$ ]] \
        || refuse "the control token must be 16 or more letters, digits, '-' or '_': make one with openssl rand -hex 32"
    printf '%s' "${token}"
}

# Whoever reaches the ports can then have Triton read and write the regions of all other clients.
case "${TRIREME_SHARED_MEMORY:-false}" in
    false) ;;
    true) control_apis="${control_apis/shared-memory,/}" ;;
    *) refuse "TRIREME_SHARED_MEMORY is '${TRIREME_SHARED_MEMORY}': say true or false" ;;
esac
readonly control_apis

[[ -z "${TRIREME_ALLOCATOR:-}" || -f "${TRIREME_ALLOCATOR}" ]] \
    || refuse "TRIREME_ALLOCATOR: there is no library ${TRIREME_ALLOCATOR}; give its whole path, or nothing for glibc's"

names="${TRIREME_PIPELINES:-$(pipelines)}"
read -r -d '' -a loaded <<< "${names}" || true
(( ${#loaded[@]} > 0 )) || refuse "no pipeline in ${repository}: export one, or mount the right model repository"
printf '%s\n' "${loaded[@]}" > "${loaded_file}"

# A TensorRT plan serves the card, driver and TensorRT that it was built with; elsewhere Triton fails late, or worse.
planned=()
for name in "${loaded[@]}"; do
    if grep -qs '^platform: "tensorrt_plan"' "${repository}/${name}_encoder/config.pbtxt"; then planned+=("${name}"); fi
done
if (( ${#planned[@]} > 0 )); then
    python3 -m text_runtime.plan_check "${repository}" "${planned[@]}" || refuse "rebuild these plans, then start again"
fi

token="$(control_token)"
# Triton takes the token as a flag only; no model's process needs to inherit it.
unset TRIREME_CONTROL_TOKEN

# Last, so that it serves Triton and its models only. What is preloaded already goes first. oneTBB, which OpenVINO brings,
# else loads a library that frees with glibc what the allocator has allocated.
if [[ -f "${allocator}" ]]; then
    export LD_PRELOAD="${LD_PRELOAD:+${LD_PRELOAD}:}${allocator}" TBB_ENABLE_SANITIZERS=1
fi

# Not exit-on-error: one broken pipeline turns the health check red, and the others go on serving.
exec tritonserver \
    --model-repository="${repository}" \
    --model-control-mode=explicit \
    "${loaded[@]/#/--load-model=}" \
    --exit-on-error=false \
    --strict-readiness=false \
    --disable-auto-complete-config \
    --exit-timeout-secs="${TRIREME_EXIT_TIMEOUT_S:-30}" \
    --metrics-config=summary_latencies="${TRIREME_LATENCY_SUMMARIES:-true}" \
    --metrics-config=summary_quantiles=0.5:0.05,0.95:0.01,0.99:0.005 \
    --grpc-restricted-protocol="${control_apis}:trireme-control-token=${token}" \
    --http-restricted-api="${control_apis}:trireme-control-token=${token}" \
    --log-format=ISO8601 \
    "$@"
