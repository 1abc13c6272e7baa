import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeCertificate } from '@sluice/policies/testing'
import { added, checked, signWith, trust } from './testing/run.js'
import { soapMessage } from './testing/soap.js'
import { Wss4jPeer, wss4jSkip } from './testing/wss4j-peer.js'

const rsa = makeCertificate({ name: 'client' })
const ec = makeCertificate({ name: 'curve', kind: 'ec' })
const user = { name: 'ana', password: 'correct horse' }
const own = { keys: [{ key: rsa.keyPem, certificate: rsa.certificatePem }] }

const XMLENC = 'http://www.w3.org/2001/04/xmlenc#'
const XMLENC11 = 'http://www.w3.org/2009/xmlenc11#'
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const PSS = 'http://www.w3.org/2007/05/xmldsig-more#'
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'

/** Prefixes used only in values, which inclusive forms and prefix lists must keep. */
const CONTENT =
  '<m:order xmlns:m="urn:shop" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="m:Order">' +
  '<m:item a="1" B="2">&lt;x&gt; &#13; \u00e9 \u{1f600}</m:item><!-- kept --><m:empty/></m:order>'

describe('WSS4J', { skip: wss4jSkip }, () => {
  let peer: Wss4jPeer
  before(() => {
    peer = new Wss4jPeer()
  })
  after(() => peer.close())

  for (const version of ['1.1', '1.2'] as const) {
    for (const keyInfo of ['token', 'thumbprint', 'issuer-serial', 'ski', 'certificate']) {
      test(`WSS4J signatures with ${keyInfo} in SOAP ${version} are accepted, and refused after a change`, async () => {
        await peer.useKeys(rsa)
        const signed = await peer.secure(soapMessage({ version, content: CONTENT }), {
          steps: 'timestamp sign',
          keyInfo,
          algorithm: `${MORE}rsa-sha256`,
          digest: `${XMLENC}sha256`,
        })
        const rules = { timestamp: {}, signature: trust(rsa) }
        const answer = checked(signed, rules)
        assert.equal(answer.kind, 'passed', JSON.stringify(answer))
        assert.equal(checked(signed.replace('kept', 'gone'), rules).kind, 'passed', 'comments are not signed')
        const changed = checked(signed.replace('B="2"', 'B="3"'), rules)
        assert.equal(changed.kind === 'fault' && changed.code, 'FailedCheck')
      })
    }
  }

  const algorithms = [
    ['rsa-sha512', rsa, `${MORE}rsa-sha512`, `${XMLENC}sha512`],
    ['rsa-pss-sha256', rsa, `${PSS}sha256-rsa-MGF1`, `${XMLENC}sha256`],
    ['ecdsa-sha256', ec, `${MORE}ecdsa-sha256`, `${XMLENC}sha256`],
    ['ecdsa-sha384', ec, `${MORE}ecdsa-sha384`, `${MORE}sha384`],
  ] as const
  for (const [name, pair, algorithm, digest] of algorithms) {
    test(`${name} is understood on both sides`, async () => {
      await peer.useKeys(pair)
      const theirs = await peer.secure(soapMessage({ content: CONTENT }), {
        steps: 'timestamp sign',
        algorithm,
        digest,
      })
      const answer = checked(theirs, { timestamp: {}, signature: trust(pair) })
      assert.equal(answer.kind, 'passed', JSON.stringify(answer))
      const ours = added(soapMessage({ content: CONTENT }), {
        timestamp: {},
        signature: signWith(pair, { algorithm: name }),
      })
      const verdict = await peer.check(ours)
      assert.ok(verdict.ok, JSON.stringify(verdict))
    })
  }

  const forms: Record<string, string>[] = [{ c14n: INCLUSIVE }, { prefixes: 'no' }]
  for (const more of forms) {
    test(`the canonical form with ${JSON.stringify(more)} matches WSS4J`, async () => {
      await peer.useKeys(rsa)
      const signed = await peer.secure(soapMessage({ content: CONTENT }), {
        steps: 'timestamp sign',
        algorithm: `${MORE}rsa-sha256`,
        digest: `${XMLENC}sha256`,
        ...more,
      })
      const answer = checked(signed, { timestamp: {}, signature: trust(rsa) })
      assert.equal(answer.kind, 'passed', JSON.stringify(answer))
    })
  }

  for (const password of ['digest', 'text'] as const) {
    test(`a UsernameToken with a ${password} is understood on both sides`, async () => {
      await peer.useKeys(rsa)
      const theirs = await peer.secure(soapMessage(), {
        steps: 'username',
        user: user.name,
        secret: user.password,
        password,
      })
      const rules = { usernameToken: { users: [user], types: [password] } }
      const answer = checked(theirs, rules)
      assert.equal(answer.kind === 'passed' && answer.identity?.id, 'ana', JSON.stringify(answer))
      const ours = added(soapMessage(), { usernameToken: { ...user, type: password } })
      assert.ok((await peer.check(ours, { secret: user.password })).ok)
      assert.ok(!(await peer.check(ours, { secret: 'wrong' })).ok)
    })
  }

  const encryptions: Record<string, string>[] = [
    { transport: `${XMLENC}rsa-oaep-mgf1p`, encKeyInfo: 'thumbprint' },
    { transport: `${XMLENC}rsa-oaep-mgf1p`, oaepDigest: `${XMLENC}sha256`, encKeyInfo: 'issuer-serial' },
    {
      transport: `${XMLENC11}rsa-oaep`,
      oaepDigest: `${XMLENC}sha256`,
      mgf: `${XMLENC11}mgf1sha256`,
      encKeyInfo: 'ski',
    },
    {
      transport: `${XMLENC11}rsa-oaep`,
      oaepDigest: `${XMLENC}sha256`,
      mgf: `${XMLENC11}mgf1sha1`,
      encKeyInfo: 'token',
    },
    { cipher: `${XMLENC11}aes128-gcm`, encKeyInfo: 'certificate' },
  ]
  for (const options of encryptions) {
    for (const steps of ['encrypt', 'timestamp sign encrypt', 'timestamp encrypt sign']) {
      test(`WSS4J messages with the order '${steps}' and ${JSON.stringify(options)} are processed`, async () => {
        await peer.useKeys(rsa)
        const secured = await peer.secure(soapMessage({ content: CONTENT }), {
          steps,
          algorithm: `${MORE}rsa-sha256`,
          digest: `${XMLENC}sha256`,
          ...options,
        })
        assert.doesNotMatch(secured, /urn:shop/)
        const isSigned = steps !== 'encrypt'
        const rules = { decryption: own, ...(isSigned ? { timestamp: {}, signature: trust(rsa) } : {}) }
        const answer = checked(secured, rules)
        assert.ok(answer.kind === 'passed', JSON.stringify(answer))
        assert.match(
          Buffer.from(answer.body!).toString(),
          /<m:item [^>]*>&lt;x&gt; &#(?:13|xD); \u00e9 \u{1f600}</u,
        )
      })
    }
  }

  test('an encrypted signature and an encrypted UsernameToken are found', async () => {
    await peer.useKeys(rsa)
    const secured = await peer.secure(soapMessage(), {
      steps: 'timestamp username sign encrypt',
      parts: 'Body Timestamp UsernameToken',
      encParts: 'Body UsernameToken Signature',
      algorithm: `${MORE}rsa-sha256`,
      digest: `${XMLENC}sha256`,
      user: user.name,
      secret: user.password,
      transport: `${XMLENC}rsa-oaep-mgf1p`,
    })
    assert.doesNotMatch(secured, /Username>/)
    const answer = checked(secured, {
      timestamp: {},
      decryption: own,
      usernameToken: { users: [user] },
      signature: { ...trust(rsa), parts: ['body', 'timestamp', 'username-token'] },
    })
    assert.equal(answer.kind === 'passed' && answer.identity?.id, 'ana', JSON.stringify(answer))
  })

  const weak: Record<string, string>[] = [
    { cipher: `${XMLENC}aes256-cbc`, transport: `${XMLENC}rsa-1_5` },
    { cipher: `${XMLENC}aes128-cbc`, transport: `${XMLENC}rsa-oaep-mgf1p` },
  ]
  for (const options of weak) {
    test(`${JSON.stringify(options)} is accepted only if allowed`, async () => {
      await peer.useKeys(rsa)
      const secured = await peer.secure(soapMessage({ content: CONTENT }), { steps: 'encrypt', ...options })
      const answer = checked(secured, { decryption: own, allowWeak: ['cbc', 'rsa-1_5'] })
      assert.equal(answer.kind, 'passed', JSON.stringify(answer))
      const refused = checked(secured, { decryption: own })
      assert.equal(refused.kind === 'fault' && refused.code, 'FailedCheck')
    })
  }

  test('SHA-1 is accepted only if allowed', async () => {
    await peer.useKeys(rsa)
    const signed = await peer.secure(soapMessage(), {
      steps: 'timestamp sign',
      algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
      digest: 'http://www.w3.org/2000/09/xmldsig#sha1',
    })
    const rules = { timestamp: {}, signature: trust(rsa) }
    assert.equal(checked(signed, { ...rules, allowWeak: ['sha1'] }).kind, 'passed')
    const refused = checked(signed, rules)
    assert.equal(refused.kind === 'fault' && refused.code, 'UnsupportedAlgorithm')
  })

  for (const version of ['1.1', '1.2'] as const) {
    for (const keyInfo of ['token', 'thumbprint', 'issuer-serial', 'subject-key-identifier'] as const) {
      test(`WSS4J accepts our signatures with ${keyInfo} in SOAP ${version}, and refuses changed ones`, async () => {
        await peer.useKeys(rsa)
        const ours = added(soapMessage({ version, content: CONTENT, header: '<x xmlns="urn:x"/>' }), {
          timestamp: {},
          usernameToken: user,
          signature: signWith(rsa, { keyInfo, parts: ['body', 'timestamp', 'username-token'] }),
        })
        const answer = await peer.check(ours, { secret: user.password })
        assert.ok(answer.ok, JSON.stringify(answer))
        assert.ok(!(await peer.check(ours.replace('B="2"', 'B="3"'), { secret: user.password })).ok)
      })
    }
  }

  for (const keyTransport of ['rsa-oaep', 'rsa-oaep-mgf1p'] as const) {
    for (const cipher of ['aes128-gcm', 'aes256-gcm', 'aes256-cbc'] as const) {
      test(`WSS4J decrypts our messages with ${cipher} and ${keyTransport}, and finds the signature inside`, async () => {
        await peer.useKeys(rsa)
        const ours = added(soapMessage({ content: CONTENT }), {
          timestamp: {},
          signature: signWith(rsa),
          encryption: { certificate: rsa.certificatePem, cipher, keyTransport },
        })
        assert.doesNotMatch(ours, /urn:shop/)
        const answer = await peer.check(ours)
        assert.ok(answer.ok, JSON.stringify(answer))
        assert.match(answer.text, /<m:item B="2" a="1">|<m:item a="1" B="2">/)
      })
    }
  }
})
