import { type Static, Type } from '@sinclair/typebox'
import { callTls } from '../../shared/call-tls.js'
import { ASSERTION_ALGORITHMS, clientAuthKeys } from '../../shared/client-auth.js'
import {
  integer,
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalRecord,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

export const DEFAULT_TTL = '5m'
export const DEFAULT_REFRESH_BEFORE = '30s'
export const DEFAULT_TIMEOUT = '2s'
export const DEFAULT_REFRESH_ON: readonly number[] = [401]
export const DEFAULT_SUBJECT_HEADER = 'authorization'
export const DEFAULT_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
export const DEFAULT_ASSERTION_TIME = '1m'
export const DEFAULT_SUBJECTS = 10_000

const basic = optionalClosed('Basic authentication (RFC 7617).', {
  username: string('The name.', { maxLength: 1024 }),
  password: string('The password, by reference.', { secret: true, maxLength: 4096 }),
})

const apiKey = optionalClosed('A key of the backend.', {
  in: oneOf(['header', 'query'], 'Where it is put.'),
  name: string('The header, or the query parameter; what the client sent under it is removed.', {
    minLength: 1,
    maxLength: 256,
  }),
  value: string('The key, by reference, with what stands before it: `Token ${env:KEY}`.', {
    secret: true,
    minLength: 1,
    maxLength: 8192,
  }),
})

const bearer = optionalClosed('A fixed token (RFC 6750).', {
  token: string('The token, by reference.', { secret: true, minLength: 1, maxLength: 16_384 }),
})

const assertion = optionalClosed(
  'With `jwt-bearer`: the gateway makes the assertion itself. Absent: the token of the client is the assertion.',
  {
    issuer: string('Its `iss`.', { minLength: 1, maxLength: 1024 }),
    subject: optionalText(
      1024,
      'Its `sub`; may hold {{placeholders}}, `{{consumer.id}}`, and then each subject has its own token. Default: the issuer.',
    ),
    audience: optionalText(2048, 'Its `aud`; default: `tokenUrl`.'),
    claims: optionalRecord(Type.Unknown(), 'More claims, by name.', { maxProperties: 32 }),
    expiresIn: optionalDuration('How long it is valid.', DEFAULT_ASSERTION_TIME),
    privateKey: string('The private key (PEM or JWK), by reference.', { secret: true, minLength: 1 }),
    keyId: optionalText(256, 'Its `kid`.'),
    algorithm: optionalOneOf(ASSERTION_ALGORITHMS, 'The algorithm.', 'ES256'),
  },
)

const oauth2 = optionalClosed('Tokens of an authorization server (RFC 6749).', {
  tokenUrl: string('Its token endpoint.', { minLength: 1, maxLength: 2048, destination: true }),
  ...clientAuthKeys,
  grant: optionalOneOf(
    ['client-credentials', 'token-exchange', 'jwt-bearer'],
    'What a token is asked for with: the credentials of the gateway (RFC 6749 section 4.4), the token of the client (`token-exchange`, RFC 8693), or an assertion (`jwt-bearer`, RFC 7523).',
    'client-credentials',
  ),
  subjectHeader: optionalText(
    256,
    'With a grant that needs it: the header with the token of the client, behind `Bearer` where that is written; default `authorization`. It is read in the order of the list: before a policy that removes it.',
  ),
  subjectTokenType: optionalText(
    256,
    `With \`token-exchange\`: what kind of token that is; default \`${DEFAULT_TOKEN_TYPE}\`.`,
  ),
  requestedTokenType: optionalText(256, 'With `token-exchange`: what kind of token is wanted.'),
  assertion,
  maxSubjects: optionalInteger('Tokens that a worker keeps of clients and subjects, 32 MB at most.', {
    default: DEFAULT_SUBJECTS,
    minimum: 1,
    maximum: 1_000_000,
  }),
  scopes: optionalList(string('A scope.', { pattern: '^[!#-\\[\\]-~]{1,256}$' }), 'The scopes to ask for.', {
    maxItems: 100,
  }),
  audience: optionalText(2048, 'The parameter `audience`, which some servers ask for.'),
  resource: optionalText(2048, 'The parameter `resource` (RFC 8707).'),
  parameters: optionalRecord(
    Type.String({ maxLength: 2048 }),
    'More parameters of the form, by name; those that the gateway writes itself cannot be among them.',
    { maxProperties: 32 },
  ),
  defaultTtl: optionalDuration('How long a token is used whose answer does not say so.', DEFAULT_TTL),
  refreshBefore: optionalDuration(
    'How long before its end a token is replaced in the background, a third of its time at most.',
    DEFAULT_REFRESH_BEFORE,
  ),
  refreshOn: optionalList(
    integer('A status.', { minimum: 400, maximum: 499 }),
    'Answers of the backend that say that the token is no longer good: the request is sent once more with a new one. Some backends say 403.',
    { default: [...DEFAULT_REFRESH_ON], maxItems: 10 },
  ),
  timeout: optionalDuration('Longest wait for the token endpoint, 1ms to 20s.', DEFAULT_TIMEOUT),
  tls: callTls,
})

const digest = optionalClosed('Digest authentication (RFC 7616).', {
  username: string('The name.', { minLength: 1, maxLength: 1024 }),
  password: string('The password, by reference.', { secret: true, maxLength: 4096 }),
  allowWeak: optionalFlag(false, 'Allows MD5, for backends that know nothing better.'),
})

const awsSigV4 = optionalClosed('Signatures of AWS (Signature Version 4).', {
  region: string('Such as `eu-central-1`.', { pattern: '^[a-z0-9-]{1,64}$' }),
  service: string('The name of the service in signatures, such as `s3`, `execute-api` or `lambda`.', {
    pattern: '^[a-z0-9-]{1,64}$',
  }),
  accessKeyId: string('The id of the access key.', { pattern: '^\\w{1,128}$' }),
  secretAccessKey: string('The secret access key, by reference.', {
    secret: true,
    minLength: 1,
    maxLength: 1024,
  }),
  sessionToken: optionalString('The token of temporary credentials, by reference.', {
    secret: true,
    minLength: 1,
    maxLength: 8192,
  }),
  unsignedPayload: optionalFlag(
    false,
    'With `s3`: bodies are not signed, and so not collected either. For targets with https.',
  ),
})

/** The configuration of `backend-auth`. */
export const backendAuthSchema = policyOptions(
  {
    basic,
    apiKey,
    bearer,
    oauth2,
    digest,
    awsSigV4,
    passThrough: optionalFlag(
      false,
      'Leaves in the request what the client has sent: `authorization` where the credentials go elsewhere, and the token in `oauth2.subjectHeader`.',
    ),
  },
  [
    'Exactly one of the mappings says how. The credentials are put into each attempt anew, after all other policies of the request, so that retries and other targets get fresh ones. Other conditions get other credentials: list the policy several times, each with its `when`. A certificate of the gateway is a matter of connections, see `tls` of the [upstream](../../../../../docs/guides/upstreams.md); an HMAC over the request makes `hmac-signature` with `mode: sign`.',
    '`oauth2` gets a token when the first request needs it, and a new one in the background before it ends, as long as requests come. Workers share the token of the gateway, and each has its own of clients; requests that need one at the same time wait for the same call. While the token endpoint fails, a token is used until it ends, also one that the backend has refused; then requests are refused with 503 `GW_UPSTREAM_CREDENTIALS`, and the endpoint is asked again after 1 s, 2 s, up to 30 s. Tokens survive reloads.',
    'With `token-exchange`, and `jwt-bearer` for a subject of the request, each subject has a token of its own; those do not survive a reload. A request that names no subject is refused with 401 `GW_AUTH_MISSING`, one whose subject the authorization server refuses (`invalid_grant`, `invalid_request` and the like) with 401 `GW_AUTH_INVALID`. List a policy that checks the token too: this one only passes it on.',
    'When the backend answers a request with a status of `refreshOn`, a new token is asked for, at most every 10 s, and the request is sent once more if its body is at hand: without one, collected for a policy, or up to `limits.bodyBuffer`. Otherwise the client gets that answer.',
    '`digest` takes the strongest algorithm that the backend offers of SHA-512-256, SHA-256 and, with `allowWeak`, MD5. What a target asks for is remembered: the first request, and each after its nonce has become stale, is sent twice, if its body is at hand. `qop=auth-int` is answered only where a backend offers nothing else, and for bodies that are collected for a policy.',
    '`awsSigV4` signs `host`, `content-type` and `x-amz-…` fields; it takes `x-amz-date`, `x-amz-security-token` and `x-amz-content-sha256` of the client away. The body is collected for its digest. List it last: what a policy behind it changes is not signed.',
  ],
  {
    choice: { keys: ['basic', 'apiKey', 'bearer', 'oauth2', 'digest', 'awsSigV4'], min: 1, max: 1 },
  },
)

/** The configuration of `backend-auth`, derived from its schema. */
export type BackendAuthConfig = Static<typeof backendAuthSchema>
