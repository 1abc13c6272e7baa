import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { ASSERTION_ALGORITHMS, clientAuthKeys } from '../../identity/oauth/client-auth.js'
import { callTls } from '../../shared/call/call-tls.js'
import * as field from '../../shared/options/options.js'

const basic = field.optionalClosed('Basic authentication (RFC 7617).', {
  username: field.string('User name.', { maxLength: 1024 }),
  password: field.string('Password, as a secret reference.', { secret: true, maxLength: 4096 }),
})

const apiKey = field.optionalClosed('API key of the backend.', {
  in: field.oneOf(['header', 'query'], 'Location of the key.'),
  name: field.text(256, 'Header or query parameter. A value sent by the client is removed.'),
  value: field.text(8192, 'Key, as a secret reference, with its prefix if any: `Token ${env:KEY}`.', {
    secret: true,
  }),
})

const bearer = field.optionalClosed('Fixed bearer token (RFC 6750).', {
  token: field.text(16_384, 'Token, as a secret reference.', { secret: true }),
})

const assertion = field.optionalClosed(
  "Assertion that the gateway signs, with `jwt-bearer`. Without it the client's token is the assertion.",
  {
    issuer: field.text(1024, 'Claim `iss`.'),
    subject: field.optionalText(
      1024,
      'Claim `sub`. May contain {{placeholders}} such as `{{consumer.id}}`; then each subject gets its own token. Default: the issuer.',
    ),
    audience: field.optionalText(2048, 'Claim `aud`. Default: `tokenUrl`.'),
    claims: field.optionalRecord(Type.Unknown(), 'Additional claims by name.', { maxProperties: 32 }),
    expiresIn: field.optionalDuration('Lifetime of the assertion.', '1m'),
    privateKey: field.string('Private key (PEM or JWK), as a secret reference.', {
      secret: true,
      minLength: 1,
    }),
    keyId: field.optionalText(256, 'Header parameter `kid`.'),
    algorithm: field.optionalOneOf(ASSERTION_ALGORITHMS, 'Signature algorithm.', 'ES256'),
  },
)

const oauth2 = field.optionalClosed('Tokens from an authorization server (RFC 6749).', {
  tokenUrl: field.text(2048, 'Token endpoint URL.', { destination: true }),
  ...clientAuthKeys,
  grant: field.optionalOneOf(
    ['client-credentials', 'token-exchange', 'jwt-bearer'],
    "Grant type: client credentials of the gateway (RFC 6749 section 4.4), the client's token (`token-exchange`, RFC 8693), or an assertion (`jwt-bearer`, RFC 7523).",
    'client-credentials',
  ),
  subjectHeader: field.optionalText(
    256,
    "Header with the client's token, optionally after `Bearer`, for grants that use it. Default: `authorization`. It is read at this position in the chain, so list the policy before one that removes the token.",
  ),
  subjectTokenType: field.optionalText(
    256,
    "Type of the client's token, with `token-exchange`. Default: `urn:ietf:params:oauth:token-type:access_token`.",
  ),
  requestedTokenType: field.optionalText(256, 'Type of the requested token, with `token-exchange`.'),
  assertion,
  maxSubjects: field.optionalInteger(
    'Maximum number of tokens of clients and subjects per worker, which together take at most 32 MB.',
    { default: 10_000, minimum: 1, maximum: 1_000_000 },
  ),
  scopes: field.optionalList(
    field.string('A scope.', { pattern: '^[!#-\\[\\]-~]{1,256}$' }),
    'Scopes to request.',
    { maxItems: 100 },
  ),
  audience: field.optionalText(2048, 'Parameter `audience`, which some servers require.'),
  resource: field.optionalText(2048, 'Parameter `resource` (RFC 8707).'),
  parameters: field.optionalRecord(
    Type.String({ maxLength: 2048 }),
    'Additional form parameters by name. Parameters that the gateway sets itself are not allowed.',
    { maxProperties: 32 },
  ),
  defaultTtl: field.optionalDuration('Lifetime of a token if the token response does not state one.', '5m'),
  refreshBefore: field.optionalDuration(
    'Time before expiry at which a token is replaced in the background, at most a third of its lifetime.',
    '30s',
  ),
  refreshOn: field.optionalList(
    field.integer('A status.', { minimum: 400, maximum: 499 }),
    'Backend statuses that mean the token is no longer valid. The request is sent once more with a new token. Some backends use 403.',
    { default: [401], maxItems: 10 },
  ),
  timeout: field.optionalDuration('Maximum time to wait for the token endpoint, 1ms to 20s.', '2s'),
  tls: callTls,
})

const digest = field.optionalClosed('Digest authentication (RFC 7616).', {
  username: field.text(1024, 'User name.'),
  password: field.string('Password, as a secret reference.', { secret: true, maxLength: 4096 }),
  allowWeak: field.optionalFlag(false, 'Allows MD5, for backends that support nothing stronger.'),
})

const awsSigV4 = field.optionalClosed('AWS Signature Version 4.', {
  region: field.string('Region, such as `eu-central-1`.', { pattern: '^[a-z0-9-]{1,64}$' }),
  service: field.string('Service name used in signatures, such as `s3`, `execute-api` or `lambda`.', {
    pattern: '^[a-z0-9-]{1,64}$',
  }),
  accessKeyId: field.string('Access key id.', { pattern: '^\\w{1,128}$' }),
  secretAccessKey: field.text(1024, 'Secret access key, as a secret reference.', { secret: true }),
  sessionToken: field.optionalText(8192, 'Token of temporary credentials, as a secret reference.', {
    secret: true,
  }),
  unsignedPayload: field.optionalFlag(
    false,
    'Does not sign or buffer bodies, with `s3`. Use it only for https targets.',
  ),
})

/** Schema of the configuration of `backend-auth`. */
export const backendAuthSchema = field.policyOptions(
  {
    basic,
    apiKey,
    bearer,
    oauth2,
    digest,
    awsSigV4,
    passThrough: field.optionalFlag(
      false,
      "Keeps the client's credentials in the request: `authorization` if the gateway's credentials go elsewhere, and the token in `oauth2.subjectHeader`.",
    ),
  },
  [
    'Configure exactly one scheme. Credentials are added to every attempt after all other request policies, so retries and other targets get fresh ones. To use different credentials under different conditions, list the policy several times with `when`. For a client certificate see `tls` of the [upstream](../../../../../docs/guides/upstreams.md). For an HMAC over the request use `hmac-signature` with `mode: sign`.',
    "`oauth2` fetches a token when the first request needs it, and refreshes it in the background while requests arrive. Workers share the gateway's own token; tokens for clients are per worker. Concurrent requests wait for the same token request. While the token endpoint fails, the current token is used until it expires, even if the backend has refused it. After that, requests get 503 `GW_UPSTREAM_CREDENTIALS`, and the endpoint is retried after 1 s, 2 s, up to 30 s. The gateway's own token survives reloads.",
    "With `token-exchange`, and with `jwt-bearer` for a subject from the request, each subject has its own token. These tokens do not survive a reload. A request without a subject gets 401 `GW_AUTH_MISSING`. If the authorization server refuses the subject (`invalid_grant`, `invalid_request` and the like), the response is 401 `GW_AUTH_INVALID`. This policy does not verify the client's token, so list a policy that does.",
    "If the backend responds with a status in `refreshOn`, a new token is requested, at most every 10 s. The request is sent once more if it has no body or its body is buffered, for a policy or up to `limits.bodyBufferBytes`. Otherwise the client gets the backend's response.",
    '`digest` uses the strongest algorithm that the backend offers: SHA-512-256, SHA-256 and, with `allowWeak`, MD5. The challenge of each target is remembered. The first request, and the first after its nonce expires, is sent twice if its body is buffered. `qop=auth-int` is used only if the backend offers nothing else, and only for bodies that a policy has buffered.',
    '`awsSigV4` signs `host`, `content-type` and `x-amz-…` fields. It replaces `x-amz-date`, `x-amz-security-token` and `x-amz-content-sha256` sent by the client. The body is buffered for its digest. List this policy last: changes by later policies are not signed.',
  ],
  { choice: { keys: ['basic', 'apiKey', 'bearer', 'oauth2', 'digest', 'awsSigV4'], min: 1, max: 1 } },
)

/** Configuration of `backend-auth`, derived from its schema. */
export type BackendAuthConfig = Configured<typeof backendAuthSchema>
