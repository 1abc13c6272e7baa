import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, receivedRequest } from '../../shared/message/request-facts.js'
import { exchange } from '../../testing.js'
import type { SignedMessage } from './component.js'
import { matchesDigest } from './content-digest.js'
import { compileRequirements } from './requirements.js'
import type { VerificationConfig } from './schema.js'
import { MessageSigner } from './signer.js'
import { validate } from './validate.js'

// Keys, messages and signatures of RFC 9421, appendix B.

const CREATED = 1_618_884_473

const KEYS = [
  {
    id: 'test-key-rsa-pss',
    algorithm: 'rsa-pss-sha512' as const,
    key: `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----`,
  },
  {
    id: 'test-key-ecc-p256',
    algorithm: 'ecdsa-p256-sha256' as const,
    key: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
-----END PUBLIC KEY-----`,
  },
  {
    id: 'test-key-ed25519',
    algorithm: 'ed25519' as const,
    key: '{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}',
  },
  {
    id: 'test-shared-secret',
    algorithm: 'hmac-sha256' as const,
    encoding: 'base64' as const,
    key: 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
  },
]

const DIGEST =
  'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:'

function testRequest() {
  return exchange({
    method: 'POST',
    authority: 'example.com',
    rawPath: '/foo',
    path: '/foo',
    query: 'param=Value&Pet=dog',
    contentLength: 18,
    headers: [
      'date',
      'Tue, 20 Apr 2021 02:07:55 GMT',
      'content-type',
      'application/json',
      'content-digest',
      DIGEST,
    ],
  })
}

const RESPONSE_HEADERS = [
  'date',
  'Tue, 20 Apr 2021 02:07:56 GMT',
  'content-type',
  'application/json',
  'content-digest',
  'sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
  'content-length',
  '23',
]

const request: SignedMessage = { request: receivedRequest(testRequest()), response: null }
const response: SignedMessage = {
  request: request.request,
  response: { status: 200, lines: (name) => linesOf(RESPONSE_HEADERS, name) },
}

function verdictOf(
  message: SignedMessage,
  input: string,
  signature: string,
  config: Partial<VerificationConfig> = {},
) {
  const kind = message.response === null ? 'request' : 'response'
  const options: VerificationConfig = { keys: KEYS, components: [], contentDigest: 'if-covered', ...config }
  return validate(compileRequirements(kind, options, false), {
    message,
    inputs: [input],
    signatures: [signature],
    hasBody: true,
    nowMs: CREATED * 1000 + 1500,
  })
}

interface Vector {
  readonly section: string
  readonly message: SignedMessage
  readonly input: string
  readonly signature: string
}

const TTRP_HEADERS = [
  'client-cert',
  ':MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:',
]

const VECTORS: readonly Vector[] = [
  {
    section: 'B.2.1, RSA-PSS over nothing but parameters',
    message: request,
    input: 'sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
    signature:
      'sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:',
  },
  {
    section: 'B.2.2, selected components and a query parameter',
    message: request,
    input:
      'sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"',
    signature:
      'sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:',
  },
  {
    section: 'B.2.3, everything',
    message: request,
    input:
      'sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
    signature:
      'sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:',
  },
  {
    section: 'B.2.4, a response under ECDSA',
    message: response,
    input:
      'sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
    signature:
      'sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:',
  },
  {
    section: 'B.2.5, HMAC',
    message: request,
    input: 'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
  },
  {
    section: 'B.2.6, Ed25519',
    message: request,
    input:
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    signature:
      'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
  },
  {
    section: 'B.3, a proxy that terminates TLS',
    message: {
      request: receivedRequest(
        exchange({
          method: 'POST',
          authority: 'service.internal.example',
          rawPath: '/foo',
          query: 'param=Value&Pet=dog',
          headers: TTRP_HEADERS,
        }),
      ),
      response: null,
    },
    input:
      'ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256"',
    signature:
      'ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:',
  },
]

for (const { section, message, input, signature } of VECTORS) {
  test(`RFC 9421 ${section}: valid, and not with one byte changed`, () => {
    assert.equal(verdictOf(message, input, signature).isValid, true)
    const at = signature.length - 8
    const changed = signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1)
    const verdict = verdictOf(message, input, changed)
    assert.deepEqual(verdict, { isValid: false, reason: 'invalid', detail: '' })
    const later = verdictOf(message, input.replace('created=1618884473', 'created=1618884474'), signature)
    assert.equal(later.isValid, false)
  })
}

test('deterministic signatures of RFC 9421 are reproduced', () => {
  const signings = [
    { vector: VECTORS[4]!, key: KEYS[3]!, components: ['date', '@authority', 'content-type'] },
    {
      vector: VECTORS[5]!,
      key: {
        ...KEYS[2]!,
        key: '{"kty":"OKP","crv":"Ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}',
      },
      components: ['date', '@method', '@path', '@authority', 'content-type', 'content-length'],
    },
  ]
  for (const { vector, key, components } of signings) {
    const label = vector.input.slice(0, vector.input.indexOf('='))
    const signer = new MessageSigner('request', { key, components, label, includeAlg: false })
    const headers: string[] = []
    assert.equal(signer.sign({ message: request, headers, body: null, nowMs: CREATED * 1000 }), null)
    assert.deepEqual(headers, ['signature-input', vector.input, 'signature', vector.signature])
  }
})

test('both digests of the appendix are those of its bodies', async () => {
  assert.ok(await matchesDigest(DIGEST, Buffer.from('{"hello": "world"}')))
  assert.ok(await matchesDigest(RESPONSE_HEADERS[5]!, Buffer.from('{"message": "good dog"}')))
  assert.ok(!(await matchesDigest(DIGEST, Buffer.from('{"hello": "World"}'))))
})

test('the query parameters of section 2.2.8', () => {
  const message: SignedMessage = {
    request: receivedRequest(
      exchange({
        query:
          'var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something',
      }),
    ),
    response: null,
  }
  const key = KEYS[3]!
  const components = ['var', 'bar', 'fa%C3%A7ade%22%3A%20'].map((name) => `@query-param;name="${name}"`)
  const headers: string[] = []
  assert.equal(
    new MessageSigner('request', { key, components }).sign({
      message,
      headers,
      body: null,
      nowMs: CREATED * 1000,
    }),
    null,
  )
  const [, input, , signature] = headers as [string, string, string, string]
  assert.match(
    input,
    /"@query-param";name="var" "@query-param";name="bar" "@query-param";name="fa%C3%A7ade%22%3A%20"/,
  )
  assert.equal(verdictOf(message, input, signature).isValid, true)
})
