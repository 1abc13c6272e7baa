import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { type ClientCertificate, certificateFacts, type Step } from '@sluice/core'
import { exchange, makeCertificate, testEnv } from '../../testing.js'
import { mtls } from './policy.js'
import type { mtlsSchema } from './schema.js'

type MtlsConfig = Static<typeof mtlsSchema>

const BILLING: ClientCertificate = {
  subject: 'CN=billing,O=Example\\, Ltd',
  issuer: 'CN=Services CA,O=Example',
  names: ['DNS:Billing.example', 'URI:spiffe://example/billing'],
  serial: '01',
  fingerprint: 'ab'.repeat(32),
  expiresAt: Number.POSITIVE_INFINITY,
}

function stepOf(config: MtlsConfig): Step {
  return mtls.compile(config, testEnv()) as Step
}

/** The id of the consumer, or the code of the refusal. */
function verdict(step: Step, certificate: ClientCertificate | null): string {
  const x = exchange({ clientCertificate: certificate })
  const outcome = step.onRequest!(x) as { problem?: { code: string } } | null
  return outcome?.problem?.code ?? x.consumer!.id
}

test('a certificate belongs to the most specific entry', () => {
  const other = { ...BILLING, fingerprint: 'cd'.repeat(32) }
  const byIssuer = { id: 'issuer', issuer: 'cn=Services CA, o=Example' }
  const byName = { id: 'name', names: ['DNS:billing.EXAMPLE', 'DNS:x'] }
  const bySubject = { id: 'subject', subject: 'CN=billing, O=Example\\2C Ltd' }
  const byFingerprint = { id: 'fingerprint', fingerprints: ['AB:'.repeat(32).slice(0, -1)] }
  const all = [byIssuer, byName, bySubject, byFingerprint]
  assert.equal(verdict(stepOf({ consumers: all }), BILLING), 'fingerprint')
  assert.equal(verdict(stepOf({ consumers: all }), other), 'subject')
  assert.equal(verdict(stepOf({ consumers: [byIssuer, byName] }), other), 'name')
  assert.equal(verdict(stepOf({ consumers: [byIssuer] }), other), 'issuer')
  assert.equal(verdict(stepOf({ consumers: [byFingerprint] }), other), 'GW_AUTH_INVALID')
})

test('an entry matches only if all its criteria do', () => {
  const { subject } = BILLING
  for (const [rule, expected] of [
    [{ issuer: 'CN=Services CA,O=Example' }, 'b'],
    [{ issuer: 'CN=Other CA,O=Example' }, 'GW_AUTH_INVALID'],
    [{ names: ['URI:spiffe://example/billing'] }, 'b'],
    [{ names: ['URI:spiffe://example/Billing'] }, 'GW_AUTH_INVALID'],
    [{ fingerprints: ['ab'.repeat(32)] }, 'b'],
    [{ fingerprints: ['00'.repeat(32)] }, 'GW_AUTH_INVALID'],
  ] as const) {
    const consumers = [{ id: 'b', subject, ...rule }] as NonNullable<MtlsConfig['consumers']>
    assert.equal(verdict(stepOf({ consumers }), BILLING), expected, JSON.stringify(rule))
  }
})

test('the consumer has the data of its entry, and the fingerprint as credential', () => {
  const step = stepOf({
    consumers: [
      { id: 'b', name: 'Billing', groups: ['g'], roles: ['r'], scopes: ['s'], subject: BILLING.subject },
    ],
  })
  const x = exchange({ clientCertificate: BILLING })
  assert.equal(step.onRequest!(x), null)
  const { id, name, auth, groups, roles, scopes, credential } = x.consumer!
  assert.deepEqual([id, name, auth, credential], ['b', 'Billing', 'mtls', BILLING.fingerprint])
  assert.deepEqual([groups, roles, scopes], [['g'], ['r'], ['s']])
})

test('an id is taken from a certificate only if it occurs exactly once', () => {
  for (const [idFrom, expected] of [
    ['subject', BILLING.subject],
    ['common-name', 'billing'],
    ['dns', 'Billing.example'],
    ['uri', 'spiffe://example/billing'],
    ['fingerprint', BILLING.fingerprint],
    ['email', 'GW_AUTH_INVALID'],
  ] as const)
    assert.equal(verdict(stepOf({ idFrom }), BILLING), expected)
  const two = { ...BILLING, subject: 'CN=billing,CN=admin', names: ['DNS:a', 'DNS:b'] }
  assert.equal(verdict(stepOf({ idFrom: 'common-name' }), two), 'GW_AUTH_INVALID')
  assert.equal(verdict(stepOf({ idFrom: 'dns' }), two), 'GW_AUTH_INVALID')
  const cut = { ...BILLING, subject: 'CN=admin\\0AO\\=x' }
  assert.equal(verdict(stepOf({ idFrom: 'common-name' }), cut), 'GW_AUTH_INVALID')
  const long = { ...BILLING, subject: `CN=${'a'.repeat(257)}` }
  assert.equal(verdict(stepOf({ idFrom: 'common-name' }), long), 'GW_AUTH_INVALID')
})

test('certificates of other issuers and expired ones are refused', () => {
  const issuers = ['CN=Services CA,O=Example']
  assert.equal(verdict(stepOf({ idFrom: 'common-name', issuers }), BILLING), 'billing')
  const foreign = { ...BILLING, issuer: 'CN=Services CA,O=Example,C=DE' }
  assert.equal(verdict(stepOf({ idFrom: 'common-name', issuers }), foreign), 'GW_AUTH_INVALID')
  assert.equal(verdict(stepOf({ idFrom: 'common-name' }), null), 'GW_AUTH_MISSING')
  const ended = { ...BILLING, expiresAt: Date.now() - 1 }
  assert.equal(verdict(stepOf({ idFrom: 'common-name' }), ended), 'GW_AUTH_EXPIRED')
})

test('an invalid configuration is rejected', () => {
  for (const [config, message] of [
    [{}, /no client could be accepted/],
    [{ consumers: [{ id: 'a' }] }, /consumer 1 \('a'\): a certificate needs/],
    [{ consumers: [{ id: 'a', subject: 'acme' }] }, /not a valid distinguished name/],
    [{ consumers: [{ id: 'a', subject: ' ' }] }, /not a valid distinguished name/],
    [{ consumers: [{ id: 'a', names: ['a.example'] }] }, /not an alternative name/],
    [{ consumers: [{ id: 'a', fingerprints: ['ab'] }] }, /not a fingerprint/],
    [{ idFrom: 'dns', issuers: ['x'] }, /not a valid distinguished name of the issuer/],
  ] as const)
    assert.throws(() => mtls.compile(config as unknown as MtlsConfig, testEnv()), message)
})

const HASH = `Hash=${'ab'.repeat(32)}`

function forwardedId(value: string, config: Partial<MtlsConfig> = {}): string {
  const step = stepOf({ from: 'xfcc', idFrom: 'common-name', ...config })
  const x = exchange({ headers: ['x-forwarded-client-cert', value] })
  const outcome = step.onRequest!(x) as { problem?: { code: string } } | null
  return outcome?.problem?.code ?? x.consumer!.id
}

test('x-forwarded-client-cert is read as Envoy writes it', () => {
  assert.equal(forwardedId(`By=spiffe://a/b;${HASH};Subject="CN=app,O=Example";URI=`), 'app')
  assert.equal(forwardedId(`by="x;y,z";${HASH};SUBJECT="CN=a\\,b\\"c,O=E"`), 'a,b"c')
  assert.equal(forwardedId(`${HASH};Subject="CN=a\\\\"`), 'a\\')
  const uri = { idFrom: 'uri' } as const
  assert.equal(forwardedId(`${HASH};URI=spiffe://a/b?c=d;DNS=x;DNS=y`, uri), 'spiffe://a/b?c=d')
  const step = stepOf({ from: 'xfcc', consumers: [{ id: 'x', names: ['DNS:y'] }] })
  const x = exchange({ headers: ['x-forwarded-client-cert', `${HASH};DNS=x;DNS=y;New=1`] })
  assert.equal(step.onRequest!(x), null)
  assert.equal(x.clientCertificate?.fingerprint, 'ab'.repeat(32))
})

test('the configured one of several elements counts, or only one is allowed', () => {
  const two = `${HASH};Subject="CN=client", ${HASH};Subject="CN=proxy"`
  assert.equal(forwardedId(two), 'GW_AUTH_INVALID')
  assert.equal(forwardedId(two, { xfccElement: 'first' }), 'client')
  assert.equal(forwardedId(two, { xfccElement: 'last' }), 'proxy')
})

test('a whole certificate takes precedence over other data, and must match the hash', () => {
  const { certificatePem: pem } = makeCertificate({ name: 'whole', kind: 'ec' })
  const { fingerprint } = certificateFacts(new X509Certificate(pem))
  const cert = `Cert="${encodeURIComponent(pem)}"`
  const issuers = ['CN=whole,O=Sluice tests']
  assert.equal(forwardedId(`Hash=${fingerprint};${cert};Subject="CN=admin"`, { issuers }), 'whole')
  assert.equal(forwardedId(`${HASH};${cert}`), 'GW_AUTH_INVALID')
  assert.equal(forwardedId(`${HASH};Subject="CN=whole"`, { issuers }), 'GW_AUTH_INVALID')
  const old = makeCertificate({ name: 'old', kind: 'ec', to: new Date(Date.now() - 1000) }).certificatePem
  const facts = certificateFacts(new X509Certificate(old))
  assert.equal(forwardedId(`Hash=${facts.fingerprint};Cert="${encodeURIComponent(old)}"`), 'GW_AUTH_EXPIRED')
})

test('repeated keys and malformed values are refused', () => {
  for (const value of [
    'CN=app',
    `Subject="CN=app"`,
    `Hash=;Subject="CN=app"`,
    `Hash=abcd;Subject="CN=app"`,
    `${HASH};${HASH};Subject="CN=app"`,
    `${HASH};Subject="CN=app";subject="CN=admin"`,
    `${HASH};Subject="CN=app`,
    `${HASH};Subject="CN=app"x`,
    `${HASH};Subject="CN=app";`,
    `${HASH};Subject="CN=app",`,
    `,${HASH};Subject="CN=app"`,
    `${HASH} ;Subject="CN=app"`,
    `${HASH};Subject=CN=app,O=x`,
    `${HASH};Subject="CN=app"=x`,
    `${HASH};Cert="%zz"`,
    `${HASH};Cert="-----BEGIN CERTIFICATE-----"`,
    `${HASH};Cert="";Cert="x"`,
    `${HASH};${'DNS=a;'.repeat(100)}Subject="CN=app"`,
    `${HASH};Subject="CN=${'a'.repeat(17_000)}"`,
    // A name that got signed, and pretends to be more than one value.
    `${HASH};Subject="CN=mallory";URI=http://x;Subject="CN=app"`,
    `${HASH};Subject="CN=mallory";URI=http://x,${HASH};Subject="CN=app"`,
  ])
    assert.equal(forwardedId(value), 'GW_AUTH_INVALID', value.slice(0, 60))
  const step = stepOf({ from: 'xfcc', idFrom: 'common-name' })
  const lines = ['x-forwarded-client-cert', `${HASH};Subject="CN=app"`]
  const twice = exchange({ headers: [...lines, ...lines] })
  assert.notEqual(step.onRequest!(twice), null)
})

test('a certificate of the connection does not replace a forwarded one', () => {
  assert.equal(verdict(stepOf({ from: 'xfcc', idFrom: 'common-name' }), BILLING), 'GW_AUTH_MISSING')
})
