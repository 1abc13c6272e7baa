import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { loadLibxml } from '../../../engines/xml/libxml.js'
import { acceptedBy, isAccepted } from '../testing/patterns.js'
import { patchedPattern } from './patched-pattern.js'
import { type ParsedPattern, parsePattern, UnreadablePattern } from './pattern-parser.js'

before(() => loadLibxml())

const PLAIN = [
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
  '[+*--]',
  '\\{[A-F0-9]{8}}',
  'a}',
  '{a}',
  'a*{',
  '({|})',
  '{2}',
  'a{0000000000003}',
  'a{2,0}',
]

for (const pattern of PLAIN) {
  test(`${pattern} stays unchanged`, () => assert.equal(patchedPattern(pattern).text, pattern))
}

/** Classes that libxml2 misreads, with their rewritten form. */
const CLASSES: readonly (readonly [pattern: string, text: string])[] = [
  ['([\\w-[^a-z]]|[A-Z])+;', '([a-z]|[A-Z])+;'],
  ['[b-z-[^\\n]]', '[a-[a]]'],
  ['[a-[b-[a]]]', 'a'],
  ['[\\w-.]+@x', '[\\w\\-\\.]+@x'],
  ['[a-c-e](b)*|c', '[\\-a-ce](b)*()|c'],
  ['[\\S]([\\t -\\{\\}-~]*[\\S])?', '[\\S]([\\t -z\\{\\}~]*[\\S])?'],
  ['[\\.--[.]]', '\\-'],
]

for (const [pattern, text] of CLASSES) {
  test(`${pattern} is rewritten as ${text}`, () => assert.equal(patchedPattern(pattern).text, text))
}

const NOTHING = [
  '(a*)*[^\\s\\S]',
  '(([a-z]*)*)*[a-[a]]',
  '(a|a)*[a-[a]]|(b|b)*[a-[a]]',
  '((a*)*[a-[a]])?b(a|a)*[a-[a]]',
]

for (const pattern of NOTHING) {
  test(`${pattern} accepts nothing`, () => {
    const { text } = patchedPattern(pattern)
    for (const value of ['', 'a', 'b', 'ba', ' ']) assert.equal(isAccepted(text, value), false)
  })
}

test('an alternative that matches nothing is omitted', () => {
  const { text } = patchedPattern('(a|a)*[a-[a]]|(b|b)+')
  const accepted = ['', 'a', 'b', 'bb'].map((value) => isAccepted(text, value))
  assert.deepEqual(accepted, [false, false, true, true])
})

const BRACES: readonly (readonly [pattern: string, value: string])[] = [
  ['\\{[A-F0-9]{8}}', '{0123ABCD}'],
  ['a}', 'a}'],
  ['{a}', '{a}'],
  ['a*{', 'aa{'],
  ['{2}', '{2}'],
  ['a?{2}', 'a{2}'],
  ['}{2}', '}}'],
  ['a{0000000000003}', 'aaa'],
  ['a{2,0}', 'aa'],
]

for (const [pattern, value] of BRACES) {
  test(`${pattern} accepts ${value}, also after rewriting`, () => {
    assert.equal(isAccepted(pattern, value), true)
    const { text } = patchedPattern(`${pattern}(x*)*y`)
    assert.equal(isAccepted(text, `${value}xxy`), true, text)
    assert.equal(
      isAccepted(text, `${value.slice(1)}xxy`),
      pattern.startsWith('a*') || pattern.startsWith('a?'),
      text,
    )
  })
}

const UNREADABLE = [
  'a{',
  'a{x}',
  '{{',
  '({2}',
  'a{,2}',
  'a{3,2}',
  'a{2147483648}',
  'a]',
  '[b-a]',
  '[\\]-.]',
  '\\p{IsElvish}',
]

for (const pattern of UNREADABLE) {
  test(`${pattern} is not a pattern`, () =>
    assert.throws(() => patchedPattern(pattern), /has a syntax error at character/))
}

const STEADY = [
  'abc',
  '\\d+(\\.\\d+)?',
  '(.{1,4000})\\n',
  '[\\i-[:]][\\c-[:]]*',
  '[A-Z]{2,2}[0-9]{2,2}[a-zA-Z]{1,30}',
  '[A-Z]{2}[A-Z0-9]{30}x?',
  '([0-9]{1,3}\\.){3}[0-9]{1,3}',
  'Mr|Mrs|Ms|[A-Z]{3}',
  '(a?){9}b',
  '([^\\.-]|-)+\\.',
]

const AMBIGUOUS = [
  '(x+x+)+y',
  '(a|aa)+b',
  '(a*)*b',
  '(()*){999999999}',
  '(a?){30}a{30}',
  '.*a.*b',
  '([a-z]+-)*[a-z]+',
  '[a-z]{0,35}[a-z0-9]{0,35}',
  '[\\w\\-\\.]+@([\\w\\-]+\\.)+[\\w\\-]{2,4}',
  '(.?a.{20})*',
  '.*[0-9]{12}',
  '(((((((((a{2}){2}){2}){2}){2}){2}){2}){2}){2}b?){9}b*',
]

for (const [patterns, isAmbiguous] of [
  [STEADY, false],
  [AMBIGUOUS, true],
] as const) {
  for (const pattern of patterns) {
    test(`${pattern} ${isAmbiguous ? 'may backtrack' : 'has few match paths'}`, () => {
      assert.equal(patchedPattern(pattern).mayBacktrack, isAmbiguous)
    })
  }
}

/** Values that libxml2 wrongly accepts for the original pattern. */
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
    assert.equal(isAccepted(patchedPattern(pattern).text, value), false)
  })
}

/** Valid and invalid values for patterns that libxml2 misreads unless classes and counts are rewritten. */
const RANGES: readonly (readonly [pattern: string, valid: readonly string[], invalid: readonly string[]])[] =
  [
    ['[2\\P{L}]', ['2', '-', '1'], ['a', 'Z', 'é']],
    ['[2\\P{Lu}]', ['2', 'a', '-'], ['A', 'É']],
    ['[^\\P{M}x]', ['\u0301'], ['a', 'x']],
    ['\\p{L}+', ['Şahin', '中文', '한글', 'ẞ'], ['1', 'a1', '€']],
    ['\\P{L}+', ['1', '€'], ['a', '中', '한']],
    ['\\p{Sc}', ['$', '€', '₺', '₹'], ['a']],
    ['[2\\P{IsCyrillic}]', ['2', 'a'], ['к']],
    ['[^\\P{IsGreek}]', ['α'], ['a']],
    ['x([a-c]?){3}', ['x', 'xa', 'xabc'], ['', 'xabca']],
    ['(\\d{0,2}){2,3}', ['', '1', '123456'], ['1234567']],
    ['a((b?){2}){2,}|c', ['a', 'ab', 'abbbbb', 'c'], ['bc', 'ac']],
    ['(()){3,5}c', ['c'], ['', 'cc']],
    ['a{0}b|[a-c]{0,0}', ['', 'b'], ['a', 'ab']],
    ['(\\P{L}*)1', ['1', '-1', '121'], ['a1', '']],
    ['(\\P{S}*)\\+', ['+', 'a+'], ['++', 'a']],
    ['[a-z]{1,}1|c*', ['', 'ccc', 'xa1'], ['xac', 'x']],
    ['.{2}1{1,3}|.{1,3}c*', ['ab1', 'abc', 'abb111'.slice(0, 3)], ['abb1', 'abb111']],
  ]

for (const [pattern, valid, invalid] of RANGES) {
  test(`${pattern} means what the specification says`, () => {
    const { text } = patchedPattern(pattern)
    assert.deepEqual(
      acceptedBy(text, valid),
      valid.map(() => true),
    )
    assert.deepEqual(
      acceptedBy(text, invalid),
      invalid.map(() => false),
    )
  })
}

/** Parts of classes, with hyphens and escapes in every position. */
const PARTS = [
  'a',
  'b-z',
  '-',
  '\\-',
  '\\.',
  '\\s',
  '\\S',
  '\\d',
  '\\w',
  '\\W',
  '\\n',
  '\\]',
  '^',
  '+-.',
  '*--',
]
const MORE_PARTS = ['\\p{Lu}', '\\P{Lu}', '\\--z', 'a-\\]', '\\*-a', '\\]-.', '$', '\\i', '\\C']
const parts = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(fc.constantFrom(...PARTS, ...MORE_PARTS), { minLength: 1, maxLength: 3 }),
  )
  .map(([inverse, some]) => inverse + some.join(''))
const classes = fc
  .array(parts, { minLength: 1, maxLength: 3 })
  .map((levels) => levels.reduceRight((inner, outer) => `${outer}-[${inner}]`))
  .map((text) => `[${text}]`)
const LETTERS = Array.from('-^abczAM.,*[]\\{}05 \n\t_é中$:|😀')

test('classes have the expected characters', () => {
  fc.assert(
    fc.property(classes, (pattern) => {
      const parsed = parsedOrNull(pattern)
      if (parsed === null) return
      const { text, expression } = parsed
      const [element] = expression.alternatives[0]!.elements
      assert.ok(element?.type === 'CharacterClass')
      const accepted = acceptedBy(text, LETTERS)
      if (accepted === null) return
      for (const [i, letter] of LETTERS.entries()) {
        const isIn = element.characters.has(letter.codePointAt(0)!)
        assert.equal(accepted[i], isIn, `${JSON.stringify(letter)} ${pattern} ${text}`)
      }
    }),
    { numRuns: 2000 },
  )
})

/** Pattern parts with the equivalent JavaScript expression. */
const ATOMS: readonly (readonly [atom: string, meaning: string])[] = [
  ['a', 'a'],
  ['b', 'b'],
  ['[ab]', '[ab]'],
  ['[^a]', '[^a]'],
  ['.', '[^\\n\\r]'],
  ['\\.', '\\.'],
  ['[a-c-[b]]', '[ac]'],
  ['\\d', '\\d'],
  ['\\s', '\\s'],
  ['[^\\.-]', '[^\\.\\-]'],
  ['[^a-]', '[^a\\-]'],
  ['[\\.-[^\\.a]]', '\\.'],
  ['[a-[^b]]', '[]'],
  ['[a-c-[b-c-[c]]]', '[ac]'],
  ['-', '-'],
  ['\\S', '\\S'],
  ['\\D', '\\D'],
  ['\\P{L}', '\\P{L}'],
  ['[1\\P{L}]', '[1\\P{L}]'],
  ['[\\p{L}.]', '[\\p{L}.]'],
  ['[^\\P{L}b]', '[ac-zA-Z中é]'],
  ['\\P{IsCyrillic}', '[^\u0400-\u04ff]'],
  ['\\i', '[a-zA-Zé中:_]'],
  ['\\C', '[^a-zA-Zé中:_.0-9-]'],
]
const QUANTIFIERS = ['', '', '', '?', '*', '+', '{2}', '{0,2}', '{1,3}', '{2,}']

/** Combines a pattern with its meaning. */
const both = (...texts: readonly (readonly [string, string])[]) =>
  [texts.map(([text]) => text).join(''), texts.map(([, meaning]) => meaning).join('')] as const

type Both = readonly [pattern: string, meaning: string]

/** Nested groups. One more level creates patterns that take a second each. */
const patterns = fc.letrec<{ branch: Both; group: Both; atom: Both }>((tie) => ({
  atom: fc.oneof({ depthSize: 'small', maxDepth: 2 }, fc.constantFrom(...ATOMS), tie('group')),
  branch: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom(...QUANTIFIERS)), { minLength: 1, maxLength: 4 })
    .map((pieces) => both(...pieces.flatMap(([atom, times]) => [atom, [times, times] as const]))),
  group: fc
    .array(tie('branch'), { minLength: 1, maxLength: 2 })
    .map((branches) =>
      both(['(', '('], ...branches.flatMap((one, i) => (i ? [BAR, one] : [one])), [')', ')']),
    ),
})).group
const BAR = ['|', '|'] as const
const values = fc.array(fc.constantFrom('a', 'b', 'c', '.', '1', ' ', '\n', '-', 'é', '中'), {
  maxLength: 10,
})

test('rewritten patterns mean the same in another engine', () => {
  fc.assert(
    fc.property(patterns, fc.array(values, { minLength: 5, maxLength: 10 }), ([pattern, meaning], texts) => {
      const { text } = patchedPattern(pattern)
      // The flag `v` of Node 20 handles inverse classes wrongly: `/^(?:[^b]a[^c])+$/v` does not match `ca-`.
      const meant = new RegExp(`^(?:${meaning})$`, 'u')
      const some = texts.map((letters) => letters.join(''))
      const accepted = acceptedBy(text, some)
      assert.ok(accepted, `libxml2 does not read ${text}`)
      for (const [i, value] of some.entries()) {
        if (accepted[i] === null) continue
        assert.equal(accepted[i], meant.test(value), `${JSON.stringify(value)} ${text}`)
      }
    }),
    { numRuns: 200 },
  )
})

test('patterns with few match paths are fast', () => {
  const words = fc.array(fc.constantFrom('a', 'b', '.', '1', ' ', '-'), { minLength: 1, maxLength: 3 })
  const ends = fc.constantFrom('', '\n', '!', '-', 'b')
  fc.assert(
    fc.property(patterns, words, ends, ([pattern], word, end) => {
      const { text, mayBacktrack } = patchedPattern(pattern)
      if (mayBacktrack) return
      const began = performance.now()
      assert.notEqual(isAccepted(text, word.join('').repeat(3000) + end), null, text)
      assert.ok(performance.now() - began < 10_000, text)
    }),
    { numRuns: 150 },
  )
})

function parsedOrNull(pattern: string): ParsedPattern | null {
  try {
    return parsePattern(pattern)
  } catch (problem) {
    assert.ok(problem instanceof UnreadablePattern)
    return null
  }
}
