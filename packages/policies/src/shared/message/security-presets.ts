/** Response fields of each preset. */
export const PRESETS: Readonly<Record<'api' | 'web' | 'none', Readonly<Record<string, string>>>> = {
  api: {
    'strict-transport-security': 'max-age=31536000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cross-origin-resource-policy': 'same-origin',
    'x-permitted-cross-domain-policies': 'none',
  },
  web: {
    'strict-transport-security': 'max-age=31536000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'content-security-policy': "frame-ancestors 'self'",
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-site',
    'x-permitted-cross-domain-policies': 'none',
  },
  none: {},
}

/** Fields that the `securityHeaders` option of the `header` policy adds. */
export const BASIC_SECURITY_FIELDS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "frame-ancestors 'none'",
}

/** Supported security fields. Others belong to the `header` policy. */
export const SECURITY_FIELDS: readonly string[] = [
  ...new Set([
    ...Object.keys(PRESETS.api),
    ...Object.keys(PRESETS.web),
    'content-security-policy-report-only',
    'cross-origin-embedder-policy',
    'origin-agent-cluster',
    'reporting-endpoints',
  ]),
]
