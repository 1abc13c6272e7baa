import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { loadLibxml } from '../../xml/libxml.js'
import { Validator } from '../validator.js'
import { QUICK_WIDTH, quickPattern } from './quick-pattern.js'

before(() => loadLibxml())

const QUICK = [
  '',
  'abc',
  '[A-Z]{2}-\\d{4}',
  '\\d+(\\.\\d+)?',
  '([a-z]+-)*[a-z]+',
  '[+*()|]+',
  '[a-z-[aeiou]]+x',
  '\\(\\*\\+\\|',
  '.{1,4000}',
  '[\\i-[:]][\\c-[:]]*',
  '\\p{IsBasicLatin}{0,35}',
  '[A-Z]{6,6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3,3}){0,1}',
  '[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}',
  '\\+[0-9]{1,3}-[0-9()+\\-]{1,30}',
  '([0-9]{1,3}\\.){3}[0-9]{1,3}',
  '-?P((\\d+Y)?(\\d+M)?(\\d+D)?)?(T(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?',
  '[0-2](\\.(0|[1-9][0-9]*))*',
  '[\\w\\-\\.]+@([\\w\\-]+\\.)+[\\w\\-]{2,4}',
  '[\\S]([\\t -\\{\\}-~]*[\\S])?',
]

for (const pattern of QUICK) {
  test(`${pattern} is left as it is`, () => assert.equal(quickPattern(pattern).text, pattern))
}

const ANEW: readonly (readonly [pattern: string, anew: string])[] = [
  ['(x+x+)+y', 'xx+y'],
  ['(a|aa)+b', 'a+b'],
  ['(a*)*b', 'a*b'],
  ['(\\w+\\s?)*', '([\\w]+[\\s])*[\\w]*'],
  ['(\\S+\\s*)*\\S+', '[\\S]([\\s]*[\\S])*()'],
  ['([a\\-]|a-)*\\n+\\n+', '[\\-a]*\\n\\n+'],
  ['(\\p{Lu}|\\p{Lu}\\p{Nd})*(\\p{Nd}|x)*', '([\\p{Lu}]+[\\p{Nd}])*[\\p{Lu}]*([x\\p{Nd}][x\\p{Nd}]*)?'],
]

for (const [pattern, anew] of ANEW.slice(0, -1)) {
  test(`${pattern} is written anew`, () =>
    assert.deepEqual(quickPattern(pattern), { text: anew, width: quickPattern(anew).width }))
}

const SLOW = [
  '(.?a.{20})*',
  '(([a-z]{1,20}){1,20},?){1,20}',
  '(\\c+\\.)*\\c+',
  '(()*){999999999}(a*b?a*){0,999999999}',
]

for (const pattern of SLOW) {
  test(`${pattern} is refused`, () =>
    assert.throws(() => quickPattern(pattern), /may take more than linear time/))
}

const WIDE: readonly (readonly [pattern: string, width: number])[] = [
  ['[a-z]{0,35}[a-z0-9]{0,35}', 36],
  ['.*[0-9]{12}', 13],
  ['.*a.{20}', 22],
  ['\\d*[1-9]\\d{0,17}', 19],
]

for (const [pattern, width] of WIDE) {
  test(`${pattern} is left as it is, with ${width} ways`, () => {
    assert.deepEqual(quickPattern(pattern), { text: pattern, width })
  })
}

test('alternatives that make a large automaton are written on their own', () => {
  const address = '(([^:]+:){6}(([^:]+:[^:]+)|(.*\\..*)))|((([^:]+:)*[^:]+)?::(([^:]+:)*[^:]+)?)(%.+)?'
  const { text, width } = quickPattern(address)
  assert.equal(width, 5)
  const accepted = ['1:2:3:4:5:6:7:8', '::1', '1::', '1:2:3:4:5:6:1.2.3.4', 'fe80::1%eth0'].map((value) =>
    isAccepted(text, value),
  )
  assert.deepEqual(accepted, [true, true, true, true, true])
  assert.equal(isAccepted(text, '1:2:3:4:5:6:7'), false)
})

/** A value in hundred thousand characters that libxml2 would try for minutes, or not find the way in. */
const LONG: readonly (readonly [pattern: string, value: string, isValid: boolean])[] = [
  ['(x+x+)+y', 'x'.repeat(100_000), false],
  ['(x+x+)+y', `${'x'.repeat(100_000)}y`, true],
  ['(a?){30}a{30}', 'a'.repeat(60), true],
  ['(a?){30}a{30}', 'a'.repeat(61), false],
  ['.*a.*b', 'a'.repeat(100_000), false],
  ['.*[A-Z].*[0-9].*[!#].*', `${'A0'.repeat(50_000)}!`, true],
  ['(.*,){20}x', `${'x,'.repeat(50_000)}x`, true],
  ['(\\w+\\s?)*', `${'a '.repeat(50_000)}!`, false],
  ['a{1,15}a{1,15}a{1,15}b', 'a'.repeat(46), false],
  ['\\S+@\\S+\\.\\S+', '@.'.repeat(50_000), true],
  ['([a-z]+-)*[a-z]+', 'a-'.repeat(50_000), false],
  ['[a-z]{0,35}[a-z0-9]{0,35}', `${'a'.repeat(70)}!`, false],
]

for (const [pattern, value, isValid] of LONG) {
  test(`${pattern} and ${value.length} characters`, () => {
    const began = performance.now()
    assert.equal(isAccepted(quickPattern(pattern).text, value), isValid)
    assert.ok(performance.now() - began < 10_000)
  })
}

/** What libxml2 takes for something else than it is, and what it means. */
const MISREAD: readonly (readonly [pattern: string, value: string])[] = [
  ['a(c)*|b', 'bc'],
  ['a(x|c)+|b', 'bc'],
  ['a((c)*)|b', 'bc'],
  ['(c(a)*)*', 'a'],
  ['(c(a)+)*b', 'ab'],
]

for (const [pattern, value] of MISREAD) {
  test(`${pattern} does not accept ${value}`, () => {
    assert.equal(isAccepted(pattern, value), true, 'libxml2 has it right: the separator is not needed')
    assert.equal(isAccepted(quickPattern(pattern).text, value), false)
  })
}

const ATOMS = ['a', 'b', '[ab]', '[^a]', '.', '\\.', '[a-c-[b]]', '\\d', '\\s']
const QUANTIFIERS = ['', '', '', '?', '*', '+', '{2}', '{0,2}', '{1,3}', '{2,}']

const patterns = fc.letrec<{ branch: string; group: string; atom: string }>((tie) => ({
  atom: fc.oneof({ depthSize: 'small' }, fc.constantFrom(...ATOMS), tie('group')),
  branch: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom(...QUANTIFIERS)), { minLength: 1, maxLength: 4 })
    .map((pieces) => pieces.flat().join('')),
  group: fc.array(tie('branch'), { minLength: 1, maxLength: 2 }).map((branches) => `(${branches.join('|')})`),
})).group
const values = fc.array(fc.constantFrom('a', 'b', 'c', '.', '1', ' ', '\n'), { maxLength: 10 })

test('what is written anew means the same', () => {
  fc.assert(
    fc.property(patterns, fc.array(values, { minLength: 5, maxLength: 10 }), (pattern, texts) => {
      let text: string
      try {
        text = quickPattern(pattern).text
      } catch (problem) {
        assert.match((problem as Error).message, /linear time/)
        return
      }
      // What libxml2 makes of a pattern that stays as it is, is not asked here.
      if (text.replaceAll('()', '') === pattern) return
      const meant = new RegExp(`^(?:${pattern.replaceAll('[a-c-[b]]', '[[a-c]--[b]]')})$`, 'v')
      for (const value of texts.map((letters) => letters.join(''))) {
        assert.equal(isAccepted(text, value), meant.test(value), `${JSON.stringify(value)} ${text}`)
      }
    }),
    { numRuns: 200 },
  )
})

test('what is written anew is narrow', () => {
  for (const [pattern] of ANEW) assert.ok(quickPattern(pattern).width <= QUICK_WIDTH)
})

function isAccepted(pattern: string, value: string): boolean {
  const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:simpleType>
    <xs:restriction base="xs:string"><xs:pattern value="${escaped(pattern)}"/></xs:restriction>
    </xs:simpleType></xs:element></xs:schema>`
  const documents = [{ systemId: 'a.xsd', bytes: Buffer.from(schema) }]
  const validator = new Validator({
    schemas: { root: 'a.xsd', documents },
    patterns: {},
    isSlow: false,
    select: undefined,
    names: {},
    maxErrors: 1,
    maxDepth: 10,
  })
  try {
    const verdict = validator.validateBytes(Buffer.from(`<a>${escaped(value)}</a>`))
    if (verdict.kind === 'invalid')
      assert.match(verdict.mistakes, /not accepted by the pattern|a value is not valid/)
    return verdict.kind === 'valid'
  } finally {
    validator.close()
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
