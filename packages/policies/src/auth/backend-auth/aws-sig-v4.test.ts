import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { awsFields } from './aws-sig-v4-scheme.js'

/** The credentials and the time of the test suite that AWS has published for Signature Version 4. */
const SUITE = {
  region: 'us-east-1',
  service: 'service',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const NOW = Date.parse('2015-08-30T12:36:00Z')
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

interface Case {
  readonly method?: string
  readonly path?: string
  readonly headers?: readonly string[]
  readonly body?: string
  readonly signature: string
}

/** By their names in the suite; only those whose messages a gateway can be sent. */
const CASES: Readonly<Record<string, Case>> = {
  'get-vanilla': { signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31' },
  'get-vanilla-query-order-key-case': {
    path: '/?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'get-vanilla-utf8-query': {
    path: '/?%E1%88%B4=bar',
    signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  'post-vanilla': {
    method: 'POST',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  'post-x-www-form-urlencoded': {
    method: 'POST',
    headers: ['content-type', 'application/x-www-form-urlencoded'],
    body: 'Param1=value1',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
}

function authorizationOf(fields: readonly (readonly [string, string])[]): string {
  return fields.find(([name]) => name === 'authorization')![1]
}

for (const [name, { method = 'GET', path = '/', headers = [], body = '', signature }] of Object.entries(
  CASES,
)) {
  test(`the signature of the published case ${name} is made`, () => {
    const request = {
      method,
      host: 'example.amazonaws.com',
      path,
      headers,
      payload: sha256(body),
      nowMs: NOW,
    }
    const authorization = authorizationOf(awsFields(SUITE, request))
    assert.match(
      authorization,
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/us-east-1\/service\/aws4_request, /,
    )
    assert.equal(/Signature=(\w+)$/.exec(authorization)?.[1], signature)
  })
}

test('the signature of the published request to IAM is made', () => {
  const config = { ...SUITE, service: 'iam' }
  const request = {
    ...{ method: 'GET', host: 'iam.amazonaws.com', path: '/?Action=ListUsers&Version=2010-05-08' },
    headers: ['content-type', 'application/x-www-form-urlencoded; charset=utf-8', 'x-other', 'not signed'],
    ...{ payload: sha256(''), nowMs: NOW },
  }
  const authorization = authorizationOf(awsFields(config, request))
  const signed = 'SignedHeaders=content-type;host;x-amz-date, '
  assert.ok(authorization.includes(signed), authorization)
  assert.match(authorization, /Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7$/)
})

test('temporary credentials and the digests of S3 are sent and signed', () => {
  const config = { ...SUITE, service: 's3', sessionToken: 'temporary' }
  const headers = ['x-amz-meta-a', '1', 'x-amz-meta-a', '2']
  const request = {
    method: 'PUT',
    host: 'a.example.com',
    path: '/a%20b/c',
    headers,
    payload: sha256('x'),
    nowMs: NOW,
  }
  const fields = new Map(awsFields(config, request))
  assert.equal(fields.get('x-amz-content-sha256'), sha256('x'))
  assert.equal(fields.get('x-amz-security-token'), 'temporary')
  const signed = 'host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token'
  assert.ok(fields.get('authorization')?.includes(`SignedHeaders=${signed},`))
  const other = new Map(awsFields(config, { ...request, headers: ['x-amz-meta-a', '1,2'] }))
  assert.equal(fields.get('authorization'), other.get('authorization'), 'lines are one value')
})
