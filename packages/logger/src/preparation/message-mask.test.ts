import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PrivacyRule } from '../redaction/privacy-options.js'
import { MessageMask } from './message-mask.js'

const RULE: PrivacyRule = {
  ...{
    id: 'card',
    find: { names: ['card', 'x-patient'] },
    in: ['headers', 'query', 'body', 'vars'],
    do: 'mask',
  },
  shape: { kind: 'keepLast', count: 2 },
}
const MASKING = new MessageMask(['x-partner'], { keys: [], rules: [RULE] })

function bodyOf(text: string, contentType: string, mask = MASKING): string | null {
  const beginning = Buffer.from(text)
  return mask.body({ bytes: beginning.length, beginning, contentType, encoding: '' })
}

test('credentials and values under privacy rules are masked wherever they are', () => {
  for (const [name, value, expected] of [
    ['authorization', 'Basic abc', '***'],
    ['cookie', 'a=b', '***'],
    ['x-api-key', 'abc', '***'],
    ['x-partner', 'abc', '***'],
    ['x-patient', 'smith', '***th'],
    ['referer', 'https://u:p@a/?token=abc&b=1', 'https://***@a/?token=***&b=1'],
    ['x-user-agent', 'plain', 'plain'],
    ['accept', 'text/html', 'text/html'],
  ] as const)
    assert.equal(MASKING.header(name, value), expected, name)
  assert.equal(MASKING.query('a=1&api_key=x&card=4111'), 'a=1&api_key=***&card=***11')
  assert.equal(MASKING.variable('session', 'x'), '***')
  assert.equal(MASKING.variable('tenant', 'x'), 'x')
})

test('bodies are masked in their own format', () => {
  const json = 'application/json'
  const cases: readonly (readonly [string, string, string | null])[] = [
    ['{"a":1,"password":"x","card":"4111"}', json, '{"a":1,"password":"***","card":"***11"}'],
    [
      '{"in":{"Access_Token":["x"]},"x-partner":"y"}',
      json,
      '{"in":{"Access_Token":"***"},"x-partner":"***"}',
    ],
    ['{"password":"cut of', json, '{"password":"***'],
    ['user=a&passwd=x&card=4111', 'application/x-www-form-urlencoded', 'user=a&passwd=***&card=***11'],
    ['<a><password>x</password></a>', 'text/xml', '<a><password>***</password></a>'],
    ['\u0000\u0001', 'application/octet-stream', null],
  ]
  for (const [text, type, expected] of cases) assert.equal(bodyOf(text, type), expected, text)
})

test('a text that the rules cannot check is masked', () => {
  let text = '{"password":"x"}'
  for (let i = 0; i < 6; i++) text = JSON.stringify({ a: text })
  assert.equal(bodyOf(text, 'application/json'), '***')
})

test('rules that only detect do not show credentials', () => {
  const detect: PrivacyRule = { ...RULE, find: { names: ['password'] }, do: 'detect' }
  assert.equal(
    bodyOf('{"password":"x"}', 'application/json', new MessageMask([], { keys: [], rules: [detect] })),
    '{"password":"***"}',
  )
})
