import assert from 'node:assert/strict'
import { getHashes, hash } from 'node:crypto'
import { test } from 'node:test'
import { challengesIn } from './digest-challenge.js'
import { digestResponse, strongestChallenge } from './digest-response.js'

const challenge = (line: string) => challengesIn(['www-authenticate', line])
const parameterOf = (answer: string, name: string): string =>
  new RegExp(`(?:^Digest |, )${name.replace('*', '\\*')}=(?:"([^"]*)"|([^,]*))`)
    .exec(answer)
    ?.slice(1)
    .find(Boolean) ?? ''

/** RFC 7616 section 3.9.1. */
const REALM = 'realm="http-auth@example.org", qop="auth, auth-int"'
const NONCE =
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
const SHA256 = `Digest ${REALM}, algorithm=SHA-256, ${NONCE}`
const MD5 = `Digest ${REALM}, algorithm=MD5, ${NONCE}`
const MUFASA = {
  ...{ method: 'GET', uri: '/dir/index.html', body: new Uint8Array(0), username: 'Mufasa' },
  ...{ password: 'Circle of Life', cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ', count: 1 },
}

test('the answers of RFC 7616, 3.9.1 are made, the strongest where both are offered', () => {
  const both = [...challenge(MD5), ...challenge(SHA256)]
  const strong = digestResponse(strongestChallenge(both, true)!, MUFASA)
  assert.equal(
    parameterOf(strong, 'response'),
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  )
  assert.deepEqual(
    ['username', 'qop', 'nc', 'algorithm'].map((name) => parameterOf(strong, name)),
    ['Mufasa', 'auth', '00000001', 'SHA-256'],
  )
  const weak = digestResponse(strongestChallenge(challenge(MD5), true)!, MUFASA)
  assert.equal(parameterOf(weak, 'response'), '8ca523f5e9506fed4657c9700eebdbec')
  assert.equal(strongestChallenge(challenge(MD5), false), null)
})

const skip = getHashes().includes('sha512-256') ? false : 'this OpenSSL has no SHA-512/256'
test('a name is hidden, and the answer that of RFC 7616, 3.9.2 with its erratum 4897', { skip }, () => {
  const line =
    'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true'
  const answer = digestResponse(strongestChallenge(challenge(line), false)!, {
    ...{ ...MUFASA, uri: '/doe.json', username: 'Jäsøn Doe', password: 'Secret, or not?' },
    cnonce: 'NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v',
  })
  assert.equal(
    parameterOf(answer, 'username'),
    '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
  )
  assert.equal(
    parameterOf(answer, 'response'),
    '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5',
  )
  assert.match(answer, /, userhash=true$/)
})

test('a name beyond ASCII that is not hidden is written as RFC 8187 has it', () => {
  const answer = digestResponse(strongestChallenge(challenge(SHA256), false)!, {
    ...MUFASA,
    username: 'Jäsøn',
  })
  assert.match(answer, /username\*=UTF-8''J%C3%A4s%C3%B8n, /)
})

test('challenges are read beside those of other schemes, whatever is in quotes', () => {
  const schemes = (line: string) => challenge(line).map(({ scheme }) => scheme)
  assert.deepEqual(schemes('Basic realm="a, Digest nonce=b", Digest realm="x", nonce=y'), ['basic', 'digest'])
  assert.deepEqual(schemes('Negotiate, NTLM abc==, Digest nonce="y"'), ['negotiate', 'ntlm', 'digest'])
  const [read] = challenge('DIGEST realm="a \\"b\\" \\\\c" , nonce = "n",, stale=TRUE, nonce=second')
  assert.deepEqual(
    [...read!.parameters],
    [
      ['realm', 'a "b" \\c'],
      ['nonce', 'n'],
      ['stale', 'TRUE'],
    ],
  )
})

test('an invalid challenge is ignored, and its values cannot break out of the header', () => {
  const refused = [
    ...['Digest', 'Digest realm="a"', 'Digest nonce="a"', 'Digest realm="a", nonce=""', 'Basic realm="a"'],
    ...['Digest realm="a", nonce="b", algorithm=SHA-1', 'Digest realm="a", nonce="b", qop="other"'],
    ...['Digest realm="a\u00e4", nonce="b"', `Digest realm="${'a'.repeat(9000)}", nonce="b"`, '"', '=', ','],
  ]
  for (const line of refused) assert.equal(strongestChallenge(challenge(line), true), null, line.slice(0, 60))
  const evil = strongestChallenge(
    challenge('Digest realm="a\\", username=\\"root", nonce="b", algorithm=SHA-256'),
    false,
  )!
  const answer = digestResponse(evil, MUFASA)
  assert.ok(answer.includes('realm="a\\", username=\\"root"'), answer)
  assert.doesNotMatch(answer, /Circle/)
})

test('a line of many quotes and escapes is read in no time', () => {
  for (const line of [
    'Digest a="' + '\\"'.repeat(4000),
    'Digest ' + 'a='.repeat(4000),
    ' ,'.repeat(4000),
    'a '.repeat(4000),
  ])
    assert.equal(strongestChallenge(challenge(line), true), null)
})

test('sessions, bodies and the targets of old are answered as their hashes are made', () => {
  const sha256 = (text: string): string => hash('sha256', text, 'hex')
  const secret = sha256('Mufasa:a:Circle of Life')
  const { cnonce } = MUFASA
  const answerTo = (rest: string) =>
    digestResponse(strongestChallenge(challenge(`Digest realm="a", nonce="n"${rest}`), true)!, {
      ...MUFASA,
      body: Buffer.from('b'),
    })
  const session = answerTo(', algorithm=SHA-256-sess, qop=auth')
  const a1 = sha256(`${secret}:n:${cnonce}`)
  assert.equal(
    parameterOf(session, 'response'),
    sha256(`${a1}:n:00000001:${cnonce}:auth:${sha256('GET:/dir/index.html')}`),
  )
  const withBody = answerTo(', algorithm=SHA-256, qop="auth-int"')
  const a2 = sha256(`GET:/dir/index.html:${sha256('b')}`)
  assert.equal(parameterOf(withBody, 'response'), sha256(`${secret}:n:00000001:${cnonce}:auth-int:${a2}`))
  const old = answerTo(', algorithm=SHA-256')
  assert.equal(parameterOf(old, 'response'), sha256(`${secret}:n:${sha256('GET:/dir/index.html')}`))
  assert.doesNotMatch(old, /cnonce|qop|nc=/)
})
