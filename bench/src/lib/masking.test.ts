import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskedPath, maskedUrl, withMaskedUrls } from './masking.js'

const PATHS = [
  ['/orders', '/orders'],
  ['/orders?', '/orders?'],
  ['/orders?id=1&key=s3cret&=s3cret&&s3cret', '/orders?id=***&key=***&=***&&***'],
  ['/orders?a=b=s3cret;c=s3cret', '/orders?a=***'],
  ['/orders?a=?s3cret\ns3cret', '/orders?a=***'],
  ['/orders#s3cret?s3cret', '/orders#***'],
] as const

for (const [path, shown] of PATHS) {
  test(`${JSON.stringify(path)} is shown as ${shown}`, () => {
    assert.equal(maskedPath(path), shown)
    assert.equal(maskedUrl(`http://a:80${path}`), `http://a:80${shown}`)
  })
}

test('the user of a URL is not shown, whatever is in it, nor that of what is no URL', () => {
  assert.equal(maskedUrl('http://u:s3c@ret@a:80/b@c'), 'http://***@a:80/b@c')
  assert.equal(maskedUrl('--target=http://u:s3cret@a?b=s3cret c'), '--target=http://***@a?b=***')
  assert.equal(maskedUrl('u:s3cret@a/b?s3cret'), '***@a/b?***')
  assert.equal(maskedUrl('//u:s3cret@a'), '//***@a')
  assert.equal(maskedUrl('localhost'), 'localhost')
})

test('URLs within a text lose their values, and the rest of it stays', () => {
  const text = "Running 1s test @ http://u:s3cret@a/b?c=s3cret\nno 'http://a?s3cret' (a?b=c)"
  assert.equal(withMaskedUrls(text), "Running 1s test @ http://***@a/b?c=***\nno 'http://a?***' (a?b=c)")
})
