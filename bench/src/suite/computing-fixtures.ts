import { IDENTITY_STYLESHEET, ordersXsd } from './orders.js'
import type { PolicyFixture } from './policy-fixtures.js'
import {
  benchmarkToken,
  encryptedValue,
  SECRET,
  SIGNED_VALUE,
  SIGNING_KEY,
  VALUE_SIGNATURE,
  VERIFYING_KEY,
} from './policy-keys.js'

/** A policy that looks at no body. */
function plain(use: PolicyFixture['use'], headers: PolicyFixture['headers'] = {}): PolicyFixture {
  return { body: null, headers, use }
}

function onJson(use: PolicyFixture['use']): PolicyFixture {
  return { body: 'json', headers: {}, use }
}

function onXml(use: PolicyFixture['use']): PolicyFixture {
  return { body: 'xml', headers: {}, use }
}

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

const SIGNERS = [{ id: 'bench', key: SIGNING_KEY }]
const SECRETS = [{ id: 'bench', key: SECRET.toString('base64') }]

/** How the policies that compute are measured; those that check something get what passes. */
export const COMPUTING_FIXTURES: readonly PolicyFixture[] = [
  plain(
    {
      use: 'jwt',
      with: {
        keys: [{ secret: SECRET.toString('base64url'), secretEncoding: 'base64url' }],
        algorithms: ['HS256'],
        issuers: ['benchmark'],
      },
    },
    { authorization: `Bearer ${benchmarkToken()}` },
  ),
  plain({ use: 'size-limit', with: { request: { maxUrlBytes: '2kb', maxHeaders: 40 } } }),
  plain({ use: 'time-window', with: { windows: [{ from: '00:00', to: '24:00' }] } }),
  plain({ use: 'concurrency-limit', with: { max: 10_000 } }),
  plain(
    {
      use: 'verify',
      with: {
        keys: [{ id: 'bench', key: VERIFYING_KEY }],
        signatures: [
          {
            from: 'header.x-order',
            signature: 'header.x-order-signature',
            algorithm: 'Ed25519',
            keys: ['bench'],
          },
        ],
      },
    },
    { 'x-order': SIGNED_VALUE, 'x-order-signature': VALUE_SIGNATURE },
  ),
  plain({
    use: 'http-signature',
    with: { sign: { key: { id: 'bench', algorithm: 'ed25519', key: SIGNING_KEY } } },
  }),
  onJson({
    use: 'hmac-signature',
    with: {
      preset: 'custom',
      mode: 'sign',
      header: 'x-gateway-signature',
      payload: '{{method}}.{{path}}.{{body}}',
      secrets: [SECRET.toString('hex')],
    },
  }),
  onJson({
    use: 'sign',
    with: {
      keys: SIGNERS,
      signatures: [{ from: 'body', to: 'header.x-body-signature', algorithm: 'Ed25519', key: 'bench' }],
    },
  }),
  plain(
    {
      use: 'encrypt',
      with: {
        keys: SECRETS,
        fields: [{ from: 'header.x-order', algorithm: 'aes-256-gcm', key: 'bench' }],
      },
    },
    { 'x-order': SIGNED_VALUE },
  ),
  onJson({
    use: 'jws',
    with: { form: 'detached', sign: { key: { pem: SIGNING_KEY }, algorithm: 'EdDSA' } },
  }),
  plain(
    {
      use: 'decrypt',
      with: {
        keys: SECRETS,
        fields: [{ from: 'header.x-order', algorithm: 'aes-256-gcm', keys: ['bench'] }],
      },
    },
    { 'x-order': encryptedValue() },
  ),
  onJson({
    use: 'redact',
    with: { rules: [{ phase: 'request', keys: ['password', 'pin'], action: 'delete' }] },
  }),
  onJson({
    use: 'transform',
    with: { request: { jsonata: { inline: '{ "ticker": order.symbol, "text": order.note }' } } },
  }),
  onJson({
    use: 'jwe',
    with: {
      encrypt: {
        key: { secret: SECRET.toString('base64url'), secretEncoding: 'base64url' },
        algorithm: 'dir',
      },
    },
  }),
  onJson({ use: 'openapi', with: { description: { inline: DESCRIPTION }, responses: 'off' } }),
  onXml({
    use: 'ws-security',
    with: { request: { add: { timestamp: {}, usernameToken: { name: 'bench', password: 'benchmark' } } } },
  }),
  onJson({ use: 'json-schema', with: { schema: { inline: ORDER_SCHEMA } } }),
  onJson({ use: 'content-filter', with: { packs: ['sqli', 'xss', 'path-traversal', 'command-injection'] } }),
  onJson({ use: 'script', with: { body: 'request', script: { inline: SCRIPT } } }),
  onXml({ use: 'xsd', with: { schemas: [{ inline: ordersXsd() }], select: 'soap-body' } }),
  onXml({ use: 'xslt', with: { phase: 'request', stylesheet: { inline: IDENTITY_STYLESHEET } } }),
  onXml({ use: 'xml-json', with: { direction: 'to-json' } }),
]
