import type { GeneratedBody } from '../model/scenario.js'
import { IDENTITY_STYLESHEET, ordersXsd } from './orders.js'
import {
  API_KEY,
  API_KEY_SHA256,
  benchmarkToken,
  DIRECTORY,
  encryptedValue,
  NAME,
  PASSWORD,
  PASSWORD_HASH,
  SECRET,
  SIGNED_VALUE,
  SIGNING_KEY,
  TOKEN_SERVER,
  VALUE_SIGNATURE,
  VERIFYING_KEY,
} from './policy-keys.js'

/** Fixture for measuring a policy: its use in the document, and the header fields and body that it accepts. */
export interface PolicyFixture {
  /** Kind of its bodies, measured with POST. Null if it does not read bodies. */
  readonly body: GeneratedBody['kind'] | null
  readonly headers: Readonly<Record<string, string>>
  readonly use: { readonly use: string; readonly with: object }
}

type Entry = readonly [
  name: string,
  settings: object,
  headers?: Readonly<Record<string, string>>,
  /** Name of the policy, if it differs. */
  policy?: string,
]

const BASIC = { authorization: `Basic ${Buffer.from(`${NAME}:${PASSWORD}`).toString('base64')}` }
const SECRETS = [{ id: 'bench', key: SECRET.toString('base64') }]
const SHARED = { secret: SECRET.toString('base64url'), secretEncoding: 'base64url' }
const FIELD = { from: 'header.x-order', algorithm: 'aes-256-gcm' }

const ON_NO_BODY: readonly Entry[] = [
  [
    'header',
    // Sets one field each way, as in the WSO2 API Platform report.
    {
      request: { set: { 'x-benchmark-request': 'set-by-the-gateway' } },
      response: { set: { 'x-benchmark-response': 'set-by-the-gateway' } },
    },
  ],
  ['basic-auth', { users: [{ name: NAME, password: PASSWORD_HASH }] }, BASIC],
  ['api-key', { keys: [{ id: 'bench', sha256: API_KEY_SHA256 }] }, { 'x-api-key': API_KEY }],
  ['ip-filter', { allow: ['127.0.0.0/8', '10.0.0.0/8'], deny: ['10.3.10.*'] }],
  [
    'jwt',
    { keys: [SHARED], algorithms: ['HS256'], issuers: ['benchmark'], audiences: ['api'] },
    { authorization: `Bearer ${benchmarkToken('HS256')}` },
  ],
  // Three policies with cached answers: one call during the warm-up, then one in thousands of requests.
  [
    'jwt-remote-keys',
    {
      jwks: { url: `${TOKEN_SERVER}/keys` },
      ...{ algorithms: ['EdDSA'], issuers: ['benchmark'], audiences: ['api'] },
    },
    { authorization: `Bearer ${benchmarkToken('EdDSA')}` },
    'jwt',
  ],
  [
    'oauth2-introspection',
    { url: `${TOKEN_SERVER}/introspection`, clientId: NAME, clientSecret: PASSWORD },
    { authorization: `Bearer ${API_KEY}` },
  ],
  ['ldap', { urls: [DIRECTORY], userDn: 'uid={{username}},ou=people,dc=example,dc=org' }, BASIC],
  ['compress', { minBytes: '1b', types: ['*/*'] }, { 'accept-encoding': 'gzip' }],
  [
    'cors',
    { origins: ['https://app.example.com', 'https://*.example.org'], credentials: true },
    { origin: 'https://app.example.com' },
  ],
  ['request-id', { format: 'ulid' }],
  ['security-headers', { preset: 'api' }],
  ['size-limit', { request: { maxUrlBytes: '2kb', maxHeaders: 40 } }],
  ['time-window', { windows: [{ from: '00:00', to: '24:00' }] }],
  ['concurrency-limit', { limit: 10_000 }],
  ['rate-limit', { limit: '1000000/s', burst: 1_000_000 }],
  ['quota', { limit: 1_000_000_000_000, per: 'month' }],
  // Cost of uncached requests: the suite's upstream sends no freshness information.
  ['response-cache', {}],
  [
    'verify',
    {
      keys: [{ id: 'bench', key: VERIFYING_KEY }],
      signatures: [
        {
          ...{ from: 'header.x-order', signature: 'header.x-order-signature' },
          ...{ algorithm: 'Ed25519', keys: ['bench'] },
        },
      ],
    },
    { 'x-order': SIGNED_VALUE, 'x-order-signature': VALUE_SIGNATURE },
  ],
  ['http-signature', { sign: { key: { id: 'bench', algorithm: 'ed25519', key: SIGNING_KEY } } }],
  ['encrypt', { keys: SECRETS, fields: [{ ...FIELD, key: 'bench' }] }, { 'x-order': SIGNED_VALUE }],
  ['decrypt', { keys: SECRETS, fields: [{ ...FIELD, keys: ['bench'] }] }, { 'x-order': encryptedValue() }],
]

const ORDER_SCHEMA = {
  type: 'object',
  required: ['order'],
  properties: {
    order: {
      type: 'object',
      required: ['symbol', 'note'],
      properties: { symbol: { type: 'string', maxLength: 8 }, note: { type: 'string' } },
      additionalProperties: false,
    },
  },
}

const DESCRIPTION = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/': {
      post: {
        requestBody: { required: true, content: { 'application/json': { schema: ORDER_SCHEMA } } },
        responses: { 200: { description: 'the order' } },
      },
    },
  },
}

const SCRIPT = `export function onRequest(ctx) {
  const body = ctx.req.body.json()
  ctx.req.headers.set('x-symbol', body.order.symbol)
}`

const ON_JSON: readonly Entry[] = [
  ['body-limit', { maxBytes: '1mb' }],
  [
    'hmac-signature',
    {
      ...{ preset: 'custom', mode: 'sign', header: 'x-gateway-signature' },
      ...{ payload: '{{method}}.{{path}}.{{body}}', secrets: [SECRET.toString('hex')] },
    },
  ],
  [
    'sign',
    {
      keys: [{ id: 'bench', key: SIGNING_KEY }],
      signatures: [{ from: 'body', to: 'header.x-body-signature', algorithm: 'Ed25519', key: 'bench' }],
    },
  ],
  ['jws', { form: 'detached', sign: { key: { pem: SIGNING_KEY }, algorithm: 'EdDSA' } }],
  ['redact', { rules: [{ phase: 'request', keys: ['password', 'pin'], action: 'delete' }] }],
  ['transform', { request: { jsonata: { inline: '{ "ticker": order.symbol, "text": order.note }' } } }],
  ['jwe', { encrypt: { key: SHARED, algorithm: 'dir' } }],
  ['openapi', { description: { inline: DESCRIPTION }, responses: 'off' }],
  ['json-schema', { schema: { inline: ORDER_SCHEMA } }],
  ['content-filter', { packs: ['sqli', 'xss', 'path-traversal', 'command-injection'] }],
  ['script', { body: 'request', script: { inline: SCRIPT } }],
]

const ON_XML: readonly Entry[] = [
  [
    'ws-security',
    { request: { add: { timestamp: {}, usernameToken: { name: NAME, password: 'benchmark' } } } },
  ],
  ['xsd', { schemas: [{ inline: ordersXsd() }], select: 'soap-body' }],
  ['xslt', { phase: 'request', stylesheet: { inline: IDENTITY_STYLESHEET } }],
  ['xml-json', { direction: 'to-json' }],
]

const KINDS = [
  [null, ON_NO_BODY],
  ['json', ON_JSON],
  ['xml', ON_XML],
] as const

/** Fixtures by policy name or use, in order of measurement. */
export const POLICY_FIXTURES: ReadonlyMap<string, PolicyFixture> = new Map(
  KINDS.flatMap(([body, entries]) =>
    entries.map(([name, settings, headers = {}, policy = name]) => [
      name,
      { body, headers, use: { use: policy, with: settings } },
    ]),
  ),
)
