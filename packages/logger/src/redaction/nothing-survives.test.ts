import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asciiJson } from './members.js'
import { RecordPrivacy } from './record-privacy.js'
import { options, rule } from './testing.js'

// Documents of every format with values at random positions, complete and truncated anywhere.

const SECRET = 'Zq7-unlikely.word'
/** Number of characters of a truncated value that may remain, because it cannot be recognized yet. */
const REVEALING = 8
const CARD = '4111111111111111'
const MAIL = 'zoe.unlikely@example.com'
const RULES = options(
  rule({ names: ['password', 'pin'] }),
  rule({ type: 'card' }, { do: 'hash' }),
  rule({ type: 'email' }, { shape: { kind: 'keepLast', count: 4 } }),
  rule({ names: ['gone'] }, { do: 'delete' }),
  rule({ names: ['sealed'] }, { do: 'encrypt' }),
)
const PLANTED = [SECRET, CARD, MAIL]

const anyText = fc.string({
  unit: fc.constantFrom('"', '\\', '{', '}', '<', '>', '&', ',', ':', ' ', 'a', 'ü', '1'),
})
const secretName = fc.constantFrom('password', 'PIN', 'gone', 'Sealed')
const plantedText = fc.constantFrom(CARD, `to ${MAIL}, now`, `no. ${CARD}.`)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(anyText, plantedText, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.array(fc.tuple(anyText, tie('tree')), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
    fc
      .tuple(
        secretName,
        fc.oneof(fc.constant(SECRET), fc.constant([SECRET, { a: `"${SECRET}` }])),
        tie('tree'),
      )
      .map(([name, value, other]) => ({ before: other, [name]: value, after: other })),
  ),
}))

const json = fc
  .tuple(tree, fc.constantFrom(0, 1))
  .map(([value, indent]) => JSON.stringify(value, null, indent))
const form = fc
  .array(fc.tuple(fc.oneof(anyText, secretName), fc.oneof(anyText, plantedText)), { maxLength: 6 })
  .map((pairs) => {
    const values = pairs.map(([name, text]) => [
      name,
      /^(password|pin|gone|sealed)$/i.test(name) ? SECRET : text,
    ])
    return new URLSearchParams(values as [string, string][]).toString()
  })
const xmlText = fc
  .oneof(anyText, plantedText)
  .map((text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`))
const xml = fc.array(fc.tuple(secretName, xmlText), { maxLength: 6 }).map((elements) => {
  const inner = elements.map(
    ([name, text]) => `<a x="${text}"><s:${name} y="1">${SECRET}</s:${name}>${text}</a>`,
  )
  return `<?xml version="1.0"?><r>${inner.join('\n')}</r>`
})
const body = fc.oneof(json, form, xml)

function assertNothingSurvives(line: string): void {
  assert.match(line, /^[ -~]*$/)
  const { body } = JSON.parse(line)
  for (const { text } of Object.values<{ text: string }>(body)) {
    for (const value of PLANTED) {
      for (const written of [value, encodeURIComponent(value), value.replaceAll('@', '\\u0040')]) {
        assert.ok(!text.includes(written.slice(0, REVEALING)), text)
      }
    }
  }
}

test('no value that a rule finds is left in the line, and the line stays a record', () => {
  const privacy = new RecordPrivacy(RULES)
  fc.assert(
    fc.property(body, body, (one, other) => {
      const record = { body: { req_in: { text: one }, res_out: { text: other } } }
      assertNothingSurvives(privacy.redacted(asciiJson(record)))
    }),
    { numRuns: 400 },
  )
})

test('JSON stays JSON, with all members that no rule takes', () => {
  const privacy = new RecordPrivacy(RULES)
  fc.assert(
    fc.property(tree, (value) => {
      const text = JSON.stringify([value, { last: 1 }])
      const redacted = JSON.parse(privacy.redacted(JSON.stringify({ body: { req_in: { text } } })))
      assert.deepEqual(JSON.parse(redacted.body.req_in.text).at(-1), { last: 1 })
    }),
    { numRuns: 400 },
  )
})

test('a body that was cut anywhere shows no more of a value than its first letters', () => {
  const privacy = new RecordPrivacy(RULES)
  fc.assert(
    fc.property(body, fc.double({ min: 0, max: 1, noNaN: true }), (whole, share) => {
      const text = whole.slice(0, Math.floor(whole.length * share))
      const line = privacy.redacted(JSON.stringify({ body: { req_in: { text, truncated: true } } }))
      const left = JSON.parse(line).body.req_in.text as string
      // Nothing of a value under a name may remain.
      assert.ok(!left.includes(SECRET.slice(0, 4)), left)
      assert.ok(!left.includes(CARD.slice(0, REVEALING)), left)
      assert.ok(!left.includes(`${MAIL.split('@')[0]}@`), left)
    }),
    { numRuns: 600 },
  )
})

test('no body content causes an error or loses the record', () => {
  const privacy = new RecordPrivacy(RULES)
  const noise = fc.array(
    fc.oneof(anyText, fc.constantFrom('password', '{"pin":', '<pin', '--b\n', '&#x', '%', '\\u', CARD)),
  )
  fc.assert(
    fc.property(
      noise.map((parts) => parts.join('')),
      (text) => {
        const line = privacy.redacted(
          JSON.stringify({ id: 'r', body: { req_in: { text, truncated: true } } }),
        )
        assert.equal(JSON.parse(line).id, 'r')
      },
    ),
    { numRuns: 1000 },
  )
})
