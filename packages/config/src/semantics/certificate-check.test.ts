import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { type Catalog, definePolicy } from '@sluice/core'
import { formatDiagnostic, loadDocument } from '../index.js'
import { SAMPLE_CERTIFICATE, SAMPLE_KEY } from '../testing/sample-certificate.js'

const trust = definePolicy({
  name: 'trust',
  summary: 'Sample policy with certificates.',
  schema: Type.Object(
    {
      file: Type.Optional(Type.String({ path: true })),
      inline: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  ),
  compile: () => null,
})
const CATALOG: Catalog = new Map([['trust', trust]])
const BASE64 = SAMPLE_CERTIFICATE.replaceAll(/-----.*-----|\s/g, '')
const FILES: Readonly<Record<string, string>> = {
  'cert.pem': SAMPLE_CERTIFICATE,
  'key.pem': SAMPLE_KEY,
  'bundle.pem': `# roots\n${SAMPLE_CERTIFICATE}${SAMPLE_CERTIFICATE}`,
  'idp.xml': `<a><ds:X509Certificate>\n${BASE64}\n</ds:X509Certificate></a>`,
  'keys.json': `{"keys":[{"x5c":["${BASE64}"]}]}`,
  'other.txt': 'no certificate',
}

function warnings(text: string, date: string, t: { mock: typeof import('node:test').mock }): string[] {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(date) })
  const read = (path: string): string => FILES[path.replace(/^.*\//, '')]!
  const options = { catalog: CATALOG, env: { PEM: SAMPLE_CERTIFICATE }, readFile: read, readEnd: read }
  const result = loadDocument({ text: `version: 1\n${text}\n`, name: 'g.yaml' }, options)
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.warnings.map(formatDiagnostic)
}

const LISTENER = 'listeners: [{ address: ":1", engine: node, tls: { certFile: cert.pem, keyFile: key.pem } }]'
const policy = (settings: string) =>
  `routes: [{ id: r, respond: {}, policies: [{ use: trust, with: { ${settings} } }] }]`
const upstream = (tls: string) =>
  `upstreams: { u: { targets: ["https://a"], tls: { ${tls} } } }\nroutes: [{ id: r, upstream: u }]`

const DATES: readonly (readonly [string, string])[] = [
  ['2026-11-01', 'is not valid before 2026-11-21'],
  ['2026-12-01', ''],
  ['2126-10-13', ''],
  ['2126-10-20', 'expires in 8 days, on 2126-10-28'],
  ['2126-10-28', 'expires within a day, on 2126-10-28'],
  ['2126-11-01', 'expired on 2126-10-28'],
]

for (const [date, state] of DATES) {
  test(`on ${date}, the certificate of a listener ${state || 'has no warning'}`, (t) => {
    const [found = '', ...others] = warnings(LISTENER, date, t)
    const expected = `g.yaml:2:61: warning: the certificate 'localhost' in certFile 'cert.pem' ${state}`
    assert.equal(found.replace(/ \(.*/, ''), state === '' ? '' : expected)
    assert.deepEqual(others, [])
  })
}

const PLACES: readonly (readonly [string, string, RegExp])[] = [
  [
    'a CA bundle',
    upstream('caFile: bundle.pem'),
    /2:\d+: .* in caFile 'bundle.pem' expired .*; 1 more in this file/,
  ],
  ['a client certificate', upstream('certFile: cert.pem, keyFile: key.pem'), /in certFile/],
  ['a file of a policy', policy('file: cert.pem'), /2:\d+: .* in file 'cert.pem' expired/],
  ['SAML metadata', policy('file: idp.xml'), /'localhost' in file 'idp.xml' expired/],
  ['a JWKS', policy('file: keys.json'), /'localhost' in file 'keys.json' expired/],
  [
    'a certificate in the document',
    policy('inline: ["${env:PEM}"]'),
    /2:\d+: .*'localhost' expired on [\d-]+ \(renew it\)/,
  ],
]

for (const [place, text, expected] of PLACES) {
  test(`an expired certificate is reported for ${place}`, (t) => {
    const [found = '', ...others] = warnings(text, '2126-11-01', t)
    assert.match(found, expected)
    assert.deepEqual(others, [])
  })
}

test('other files have no warning', (t) => {
  assert.deepEqual(warnings(policy('file: other.txt'), '2126-11-01', t), [])
})
