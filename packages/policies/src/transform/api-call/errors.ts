/** Error codes of `api-call`. */
export const API_CALL_ERRORS = {
  GW_CALL_FAILED: {
    status: 502,
    title: 'Call to another server failed',
    when: 'A server called by `api-call` did not respond, or its response was not as the policy expects. `api_calls` in the traffic log names the call and the reason.',
    remedy: 'Check the server that `api_calls` in the traffic log names, or use `onError: continue`.',
  },
  GW_CALL_TIMEOUT: {
    status: 504,
    title: 'Call to another server timed out',
    when: 'A server called by `api-call` did not respond within `timeout`.',
    remedy: 'Check the called server, or raise `timeout` of the call.',
  },
} as const
