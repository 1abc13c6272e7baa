import { STATE_HELP } from '../../state/state-samples.js'
import { CACHE_HELP } from '../../worker/stored-responses.js'
import { VITALS_HELP } from '../../worker/vitals.js'
import { CERTIFICATES_HELP } from '../listeners/certificate-watch.js'
import { VAULT_HELP } from '../vault/vault-secrets.js'
import { LOG_HELP } from './log-samples.js'
import { SUPERVISOR_HELP } from './supervisor-samples.js'

/** Metrics that workers count, summed over all workers. */
const TRAFFIC_HELP: Readonly<Record<string, string>> = {
  gw_requests_in_flight: 'Requests without a complete response yet.',
  gw_requests_shed_total: 'Requests refused because the worker was overloaded.',
  gw_worker_overloaded:
    '1 if the worker has refused requests in the last second because it was too busy, else 0.',
  gw_worker_waiting_requests: 'Requests that wait until the busy worker serves or refuses them.',
  gw_connections: 'Open client connections.',
  gw_websockets: 'Open WebSocket connections. They do not count as requests in flight.',
  gw_websocket_messages_total: 'WebSocket messages, by sender.',
  gw_requests_total: 'Requests answered, by route, method and status class.',
  gw_request_duration_seconds:
    'Time from the arrival of a request to the last byte of its response, by route.',
  gw_request_bytes_total: 'Bytes of request bodies, by route.',
  gw_response_bytes_total: 'Bytes of response bodies, by route.',
  gw_worker_requests_total: 'Requests answered, by worker and status class.',
  gw_worker_request_duration_seconds:
    'Time from the arrival of a request to the last byte of its response, by worker.',
  gw_worker_request_bytes_total: 'Bytes of request bodies, by worker.',
  gw_worker_response_bytes_total: 'Bytes of response bodies, by worker.',
  gw_worker_errors_total: 'Requests that the gateway itself refused or failed, by worker and error code.',
  gw_consumer_requests_total:
    'Requests of authenticated consumers, by the first group of the consumer and status class. Group `-` stands for consumers without a group.',
  gw_consumer_request_duration_seconds:
    'Time from the arrival of a request to the last byte of its response, by group.',
  gw_consumer_request_bytes_total: 'Bytes of request bodies, by group.',
  gw_consumer_response_bytes_total: 'Bytes of response bodies, by group.',
  gw_consumer_errors_total:
    'Requests of authenticated consumers that the gateway itself refused or failed, by group and error code.',
  gw_limit_requests_total:
    'Decisions of `rate-limit` and `quota`, by policy, route and result: admitted, limited, shadow (would have been limited), skipped or refused (no key), unavailable (the store did not answer).',
  gw_cache_values_total:
    'Operations of the policy `cache`, by policy, operation and result: hit, miss, stored, too_large (not stored), forgotten, none (a lookup without a key), error (the store did not answer).',
  gw_consumers_file_failures_total:
    'Changed consumer files (`consumers`) that could not be read. The previous content stays active.',
  gw_client_bans_total:
    'Actions of `client-ban`, by policy and result: banned (a client), refused (a request of a banned client), shadow (would have been refused), dropped (a response not counted because the table was full).',
  gw_compress_responses_total:
    'Responses compressed by `compress`, by coding. Result busy: no memory was left, so they were sent uncompressed.',
  gw_outbound_calls_total:
    'Calls of policies to other servers, by origin and result: answered, busy (all connections in use and the queue full), unreachable, timeout, broken (the connection closed), invalid (not HTTP), tooLarge.',
  gw_api_calls_total:
    'Calls of `api-call`, by policy, call and result: ok, unexpected, queued and dropped (one-way calls, counted again when they finish), input (the request lacks valid values for the call), or the failure as in `gw_outbound_calls_total`.',
  gw_errors_total:
    'Requests that the gateway itself refused or failed, by route and error code. Route `-` stands for requests without a route.',
  gw_policy_errors_total:
    'Requests that a policy refused, or in which it failed, by route, policy and error code.',
  gw_policy_duration_seconds:
    'Time that a request spent in a policy, all its phases and its calls to other servers included, by route and policy. Measured for one of 16 requests of each route: use averages and percentiles, not the count.',
  gw_upstream_attempts_total: 'Attempts, by upstream and target.',
  gw_upstream_failures_total: 'Failed attempts, by upstream and target.',
  gw_upstream_active: 'Attempts in progress, by upstream and target.',
  gw_upstream_duration_seconds:
    'Time from sending a request to the head of its response, by upstream and target. Includes the wait for a connection, not the upload of a streamed body.',
  gw_upstream_responses_total: 'Response heads received, by upstream, target and status class.',
  gw_upstream_errors_total:
    'Attempts that failed or timed out, by upstream, target and error code. `gw_upstream_failures_total` has no timeouts.',
  gw_upstream_request_bytes_total:
    'Bytes of request bodies received from clients, by upstream and target. A retry counts again.',
  gw_upstream_response_bytes_total: 'Bytes of response bodies received, by upstream and target.',
  gw_upstream_retries_total: 'Retries, by upstream.',
  gw_upstream_canary_aborts_total:
    'Canary aborts by workers because the canary performed worse than the primaries, by upstream.',
  gw_upstream_canary_aborted: 'Workers that send no requests to the canary after an abort, by upstream.',
  gw_upstream_mirror_skipped_total:
    'Requests not mirrored because the queue was full or the body too large, by upstream.',
  gw_upstream_mirror_differences_total:
    'Mirrored requests whose response differed from the one the client received, by upstream.',
  gw_upstream_waits_total:
    'Requests that waited because all connections to their target were in use, by upstream.',
  gw_upstream_shed_total: 'Requests refused because the upstream was full.',
  gw_upstream_unavailable_total: 'Requests refused because no target of the upstream was available.',
  gw_upstream_target_state:
    'Number of workers that see the target in this state: available, drained, unhealthy, ejected, open or half-open.',
  gw_upstream_target_healthy: '1 if the health checks find the target healthy or have no result yet, else 0.',
  gw_upstream_health_checks_total: 'Health checks, by target and result.',
  gw_service_endpoints: 'Pods of a Kubernetes Service that receive requests, by service.',
  gw_service_stale_seconds:
    'Time since the Kubernetes API server last reported on the Service; the last known pods stay in use. 0 while connected.',
  gw_service_watch_failures_total: 'Failed requests to the Kubernetes API server about the Service.',
  gw_upstream_breaker_openings_total: 'Number of times the target’s circuit breaker opened.',
  gw_upstream_ejections_total: 'Number of times the target was ejected as an outlier.',
}

/** Help text by metric name, for every metric at /metrics. */
export const METRICS_HELP: Readonly<Record<string, string>> = {
  ...SUPERVISOR_HELP,
  ...CERTIFICATES_HELP,
  ...VITALS_HELP,
  ...TRAFFIC_HELP,
  ...LOG_HELP,
  ...CACHE_HELP,
  ...STATE_HELP,
  ...VAULT_HELP,
}
