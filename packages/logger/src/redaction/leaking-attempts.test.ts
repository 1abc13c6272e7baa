import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValueTypeName } from '@sluice/core'
import { redactedBody, rule } from './testing.js'

/** Bodies that try to bypass the rule for a type, and a part of the value that must not remain. */
const BY_TYPE: readonly (readonly [ValueTypeName, string, string])[] = [
  ['card', '4111.1111.1111.1111', '1111'],
  ['card', '4111   1111   1111   1111', '1111'],
  ['card', '4111\u00a01111\u00a01111\u00a01111', '1111'],
  ['card', '4111\u20131111\u20131111\u20131111', '1111'],
  ['card', '4111/1111/1111/1111', '1111'],
  ['card', '4111\n1111\r\n1111\n1111', '1111'],
  ['card', '4111 - 1111 - 1111 - 1111', '1111'],
  ['card', '4111_1111_1111_1111', '1111'],
  ['card', '4111, 1111, 1111, 1111', '1111'],
  ['card', '3782.822463.10005', '822463'],
  ['card', '41111111\n11111111', '1111'],
  ['card', '4111\u200b1111\u200b1111\u200b1111', '1111'],
  ['card', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '1 1'],
  ['card', '1.4111 1111 1111 1111', '1111'],
  [
    'card',
    '\uff14\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11',
    '\uff11',
  ],
  [
    'card',
    '\u0664\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661',
    '\u0661',
  ],
  ['card', '{"a":"\\u0034111111111111111"}', '1111'],
  ['card', '{"a":4111111111111111}', '1111'],
  ['card', '{"a":4111111111111111.0}', '1111'],
  ['card', '{"a":"4111\\n1111\\n1111\\n1111"}', '1111'],
  ['card', '{"a":"x=%34111111111111111"}', '1111'],
  ['card', '{"a":"see http://h/?c=4111%201111%201111%201111"}', '1111'],
  ['card', '{"a":"c=4111%252d1111%252d1111%252d1111"}', '1111'],
  ['card', '{"a":"\\n4111\\\\n1111\\t1111\\/1111"}', '1111'],
  ['card', '{"a":"\\u00fc4111111111111111\\u00fc"}', '1111'],
  ['card', '{"a":"{\\"b\\":\\"4111\\\\n1111\\\\n1111\\\\n1111\\"}"}', '1111'],
  ['card', '{"a":"C:\\\\u00d4111111111111111"}', '1111'],
  ['card', 'a=4%201%201%201%201%201%201%201%201%201%201%201%201%201%201%201', '1%201'],
  ['card', 'a=%C3%BC4111%0A1111%0A1111%0A1111%3A', '1111'],
  ['card', 'a=4+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1', '1+1'],
  ['card', '<a>41<!-- -->11111111111111 4111111111111111</a>', '4111'],
  ['card', '<a>&#52;111111111111111</a>', '1111'],
  ['card', '<a>4111&#xa0;1111&#xa0;1111&#xa0;1111</a>', '1111'],
  ['card', 'a=%34111+1111+1111+1111', '1111'],
  ['card', 'text &#x34;111111111111111', '1111'],
  ['card', 'text \\u0034111111111111111', '1111'],
  ['iban', 'TR33.0006.1005.1978.6457.8413.26', '0006'],
  ['iban', 'TR33  0006  1005  1978  6457  8413  26', '0006'],
  ['iban', 'TR330006100519786457841326EUR', '0006'],
  ['iban', 'IBANTR330006100519786457841326', '0006'],
  ['iban', 'TR 33 0006 1005 1978 6457 8413 26', '0006'],
  ['iban', 'C:\\tr330006100519786457841326', '0006'],
  ['iban', '{"a":"C:\\\\nl91 abna 0417 1643 00"}', '0417'],
  ['tckn', '100 000 001 46', '001'],
  ['tckn', '12 10000000146', '0000'],
  ['phone', '+90\u2013555\u2013111\u201322\u201333', '555'],
  ['phone', '\uff0b905551112233', '555'],
  ['phone', 'a=(212%29%2F5551234', '555'],
  ['phone', 'phone=+905551112233', '555'],
  ['email', 'john\uff20example.com', 'john'],
  ['email', 'see http://h/john%40example.com', 'john'],
  ['email', '{"a":"john\\u0040example.com"}', 'john'],
  ['phone', 'a=+90+555+111+22+33', '555'],
  ['email', '{"a":"\\"john doe\\"@example.com"}', 'john'],
  ['jwt', '{"a":"\\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}', 'c2ln'],
  ['aws-key', '{"a":"\\nAKIAIOSFODNN7EXAMPLE\\n"}', 'IOSFODNN7'],
  ['aws-key', 'see %41KIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
]

for (const [type, body, part] of BY_TYPE) {
  test(`the type ${type} is found in ${JSON.stringify(body)}`, () => {
    const left = redactedBody(body, rule({ type }))
    assert.ok(!left.includes(part), left)
  })
}

/** Bodies that try to bypass a name rule with the value `hunter`. */
const BY_NAME: readonly string[] = [
  'password: |\n  hunter2\n  hunter3\nuser: ann',
  'password: >-\n  hunter2\n\n  hunter3\nuser: ann',
  'a:\n  password: |2\n    hunter2\n  user: ann',
  'password: x\n  hunter2\nuser: ann',
  'password:\n  hunter2\nuser: ann',
  'password:\n- hunter1\n- hunter2\nuser: ann',
  '- password: |\n    hunter2\n  user: ann',
  '"password": |\n  hunter2\n  hunter3\nuser: ann',
  '"password":\n  - hunter2\n  - hunter3\nuser: ann',
  '---\n"password": "a\\"hunter2"\nuser: ann',
  "---\npassword: 'a''hunter2'\nuser: ann",
  'password: |\r\n  hunter2\r\n  hunter3\r\nuser: ann',
  '{"a":"user: ann"}\n"pass\\word":"hunter"',
]

for (const body of BY_NAME) {
  test(`a value under its name is found in ${JSON.stringify(body)}`, () => {
    const left = redactedBody(body, rule({ names: ['password'] }))
    assert.ok(!left.includes('hunter'), left)
    assert.ok(left.includes('user: ann'), left)
  })
}

test('numbers that only look like those of cards stay', () => {
  for (const text of [
    '2026-11-21T14:33:59.123Z',
    '0.4111111111111111',
    '4111.1111.1111.1112',
    '[4111,1111]',
  ]) {
    assert.equal(redactedBody(text, rule({ type: 'card' })), text)
  }
})
