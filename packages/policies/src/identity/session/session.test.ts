import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCookies, removeCookies } from '../../shared/field-location/cookie.js'
import { CookieJar } from './cookie-jar.js'
import { CookieSeal } from './cookie-seal.js'

const OLD = 'an old secret of more than 32 characters'
const NEW = 'a new secret of more than 32 characters.'

test('a text can be decrypted with any secret, only for its purpose and space', () => {
  const before = new CookieSeal([OLD], 'a').seal('täxt', 'session')
  assert.equal(new CookieSeal([NEW, OLD], 'a').open(before, 'session'), 'täxt')
  assert.equal(new CookieSeal([NEW], 'a').open(before, 'session'), null)
  assert.equal(new CookieSeal([OLD], 'a').open(before, 'login'), null)
  assert.equal(new CookieSeal([OLD], 'b').open(before, 'session'), null)
  assert.notEqual(new CookieSeal([OLD], 'a').seal('täxt', 'session'), before)
})

test('tampered or truncated values cannot be decrypted', () => {
  const sealed = new CookieSeal([OLD], 'a')
  const bytes = Buffer.from(sealed.seal('text', 'session'), 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.equal(sealed.open(changed.toString('base64url'), 'session'), null, `byte ${i}`)
    assert.equal(sealed.open(bytes.subarray(0, i).toString('base64url'), 'session'), null, `${i} bytes`)
  }
  assert.equal(sealed.open('', 'session'), null)
  assert.equal(sealed.open('\u{1f600}', 'session'), null)
})

const jar = new CookieJar({ name: 's', isSecure: true })

/** Returns the cookies that a browser sends after receiving these headers. */
function sent(fields: readonly string[], before: ReadonlyMap<string, string> = new Map()) {
  const cookies = new Map(before)
  for (const line of fields.filter((_, i) => i % 2 === 1)) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    if (line.includes('Max-Age=0')) cookies.delete(name!)
    else cookies.set(name!, value!)
  }
  return cookies
}

test('a long text takes several cookies, each of which a browser keeps; a longer one none', () => {
  for (const length of [0, 1, 3500, 3501, 7000, 10_500]) {
    const text = 'x'.repeat(length)
    const fields = jar.write(text, 60, new Map())!
    for (const line of fields.filter((_, i) => i % 2 === 1)) {
      assert.ok(line.length < 4096)
      assert.match(line, /^__Host-s.*; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    }
    assert.equal(jar.read(sent(fields)), text)
  }
  assert.equal(jar.write('x'.repeat(10_501), 60, new Map()), null)
})

test('a shorter text ends the cookies that it does not need, and a part alone is nothing', () => {
  const long = sent(jar.write('x'.repeat(10_000), 60, new Map())!)
  const short = sent(jar.write('short', 60, long)!, long)
  assert.deepEqual([...short.keys()], ['__Host-s'])
  assert.equal(jar.read(short), 'short')
  assert.deepEqual([...sent(jar.clear(long), long)], [])
  for (const name of long.keys()) {
    const without = new Map(long)
    without.delete(name)
    assert.equal(jar.read(without), '')
  }
})

test('cookies of several lines are read, those that stand twice have no value, and ours are taken out', () => {
  const headers = ['cookie', 'a=1; s=2;b=3', 'x', 'y', 'cookie', 'c=4; a=5', 'cookie', 's.1=6']
  assert.deepEqual(Object.fromEntries(readCookies(headers)), { a: '', s: '2', b: '3', c: '4', 's.1': '6' })
  const plain = new CookieJar({ name: 's', isSecure: false })
  removeCookies(headers, (name) => plain.has(name))
  assert.deepEqual(headers, ['cookie', 'a=1;b=3', 'x', 'y', 'cookie', 'c=4; a=5'])
  assert.equal(plain.has('s.12'), false)
  assert.equal(plain.has('sx'), false)
})
