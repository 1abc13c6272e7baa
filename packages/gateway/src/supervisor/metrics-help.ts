import { STATE_HELP } from '../state/state-samples.js'
import { CACHE_HELP } from '../worker/stored-responses.js'
import { VITALS_HELP } from '../worker/vitals.js'
import { CERTIFICATES_HELP } from './certificate-watch.js'
import { LOG_HELP } from './log-samples.js'
import { SUPERVISOR_HELP } from './supervisor-samples.js'

/** Families that the workers count while they serve, added up over all of them. */
const TRAFFIC_HELP: Readonly<Record<string, string>> = {
  gw_requests_in_flight: 'Requests that have no complete response yet.',
  gw_requests_shed_total: 'Requests that a worker refused because it had more to do than it could.',
  gw_worker_overloaded:
    'Whether the worker’s event loop is late for so long that it refuses what it does not reach in time: 1 or 0.',
  gw_connections: 'Open connections of clients.',
  gw_websockets: 'Open WebSocket connections; they are no requests in flight.',
  gw_websocket_messages_total: 'Messages of WebSockets, by who sent them.',
  gw_requests_total: 'Requests answered, by route, method and class of the status.',
  gw_request_duration_seconds: 'From the arrival of a request to the last byte of its response, by route.',
  gw_request_bytes_total: 'Bytes of request bodies, by route.',
  gw_response_bytes_total: 'Bytes of response bodies, by route.',
  gw_limit_requests_total:
    'What `rate-limit` and `quota` decided on requests, by policy, route and result: admitted, limited, shadow (would have been limited), skipped or refused for want of a key, unavailable (their store did not answer).',
  gw_cache_values_total:
    'What the policy `cache` did, by policy, operation and result: hit, miss, stored, too_large (not stored), forgotten, none (a lookup without a key), error (the store did not answer).',
  gw_consumers_file_failures_total:
    'Changes of files of consumers (`consumersFile`) that could not be read; what was read before serves on.',
  gw_client_bans_total:
    'What `client-ban` did, by policy and result: banned (a caller), refused (a request of one), shadow (would have been refused), dropped (a response that was not counted, for want of room).',
  gw_compress_responses_total:
    'Responses that `compress` compressed, by coding; result busy: there was no memory left for it, and they went out as they were.',
  gw_outbound_calls_total:
    'Calls of policies to other servers, by origin and result: answered, busy (all connections in use, the queue full), unreachable, timeout, broken (the connection ended), invalid (no HTTP), tooLarge.',
  gw_api_calls_total:
    'Calls of `api-call`, by policy, call and result: ok, unexpected, queued and dropped (one-way calls, which are counted once more when they have ended), input (values of the request make no call), or the kind of failure as in `gw_outbound_calls_total`.',
  gw_errors_total: 'Requests that the gateway itself refused or failed, by code.',
  gw_upstream_attempts_total: 'Tries to get an answer, by upstream and target.',
  gw_upstream_failures_total: 'Tries without an answer, by upstream and target.',
  gw_upstream_active: 'Tries under way, by upstream and target.',
  gw_upstream_retries_total: 'Requests that were tried once more, by upstream.',
  gw_upstream_canary_aborts_total:
    'Canary aborts by workers because the canary performed worse than the primaries, by upstream.',
  gw_upstream_canary_aborted: 'Workers that send the canary no requests after an abort, by upstream.',
  gw_upstream_mirror_skipped_total:
    'Requests that were to be mirrored and were left out, for want of room or for a large body, by upstream.',
  gw_upstream_mirror_differences_total:
    'Mirrored requests whose answer differed from the answer of the client, by upstream.',
  gw_upstream_waits_total:
    'How often requests waited in line because all connections to their target were taken, by upstream.',
  gw_upstream_shed_total: 'Requests refused because the upstream was full.',
  gw_upstream_unavailable_total: 'Requests refused because no target of the upstream was available.',
  gw_upstream_target_state:
    'How many workers see the target in the state: available, drained, unhealthy, ejected, open or half-open.',
  gw_upstream_target_healthy:
    'Whether the health checks of the gateway find the target healthy; 1 while they know nothing yet.',
  gw_upstream_health_checks_total: 'Health checks of the target, by result.',
  gw_service_endpoints: 'Pods of a Kubernetes Service that get requests, by service.',
  gw_service_stale_seconds:
    'For how long the API server has not been heard of the Service; what was known then holds. 0: it is heard.',
  gw_service_watch_failures_total: 'How often the API server could not be asked about the Service.',
  gw_upstream_breaker_openings_total: 'How often the circuit breaker of the target opened.',
  gw_upstream_ejections_total: 'How often the target was ejected as an outlier.',
}

/** One sentence for every family at /metrics. */
export const METRICS_HELP: Readonly<Record<string, string>> = {
  ...SUPERVISOR_HELP,
  ...CERTIFICATES_HELP,
  ...VITALS_HELP,
  ...TRAFFIC_HELP,
  ...LOG_HELP,
  ...CACHE_HELP,
  ...STATE_HELP,
}
