/** Error codes of `fault`. */
export const FAULT_ERRORS = {
  GW_FAULT_INJECTED: {
    status: 503,
    title: 'Fault injected',
    when: '`fault` refused the request to test error handling. Its configuration may choose another status.',
    remedy: 'None: the fault is intentional. Remove the `guard` header or the policy.',
  },
} as const
