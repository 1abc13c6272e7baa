import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { checkPattern, RefusedPattern } from './pattern-check.js'
import { translatePattern } from './pattern-translation.js'
import { acceptedBy, isAccepted } from './testing/patterns.js'

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
  '[+*--]',
  '\\{[A-F0-9]{8}}',
  'a}',
  '{a}',
  'a*{',
  '({|})',
  '{2}',
  'a{0000000000003}',
]

for (const pattern of PLAIN) {
  test(`${pattern} stays unchanged`, () => assert.equal(checkPattern(pattern).text, pattern))
}

/** Patterns that libxml2 misreads, with the reason. */
const REFUSED: readonly (readonly [pattern: string, reason: RegExp])[] = [
  ['([\\w-[^a-z]]|[A-Z])+;', /subtracts an inverse class/],
  ['[a-[b-[a]]]', /subtracts a class with a subtraction/],
  ['[\\w-.]+@x', /unescaped hyphen in a class: write '\\-'/],
  ['[^\\s-]', /unescaped hyphen/],
  ['[a-c-e]', /unescaped hyphen/],
  ['[\\t -\\{\\}-~]', /range that begins with an escape/],
  ['[2\\P{L}]', /'\\P' in a class/],
  ['a{0}b', /count 0: remove the item/],
  ['x([a-c]?){3}', /repeats an item that can be empty/],
  ['a((b?){2}){2,}|c', /repeats an item that can be empty/],
  ['[^@]+[^.]x', /'\[\^@\]' and '\[\^\.\]' in the same place/],
  ['\\w+\\d', /'\\w' and '\\d' in the same place/],
  ['(\\P{L}*)1', /in the same place/],
  ['(ab*){2}b', /a group with a count.*write the group several times/],
]

for (const [pattern, reason] of REFUSED) {
  test(`${pattern} is refused`, () => {
    assert.throws(
      () => checkPattern(pattern),
      (problem) => {
        assert.ok(problem instanceof RefusedPattern)
        assert.match(problem.message, reason)
        return true
      },
    )
  })
}

/** Patterns that are matched correctly with small additions, or as the reasons recommend. */
const COMPLETED: readonly (readonly [
  pattern: string,
  valid: readonly string[],
  invalid: readonly string[],
])[] = [
  ['[\\w\\-.]+@x', ['a-.@x'], ['!@x']],
  ['(x?){0,2}y', ['y', 'xy', 'xxy'], ['xxxy']],
  ['a(c)*|b', ['a', 'acc', 'b'], ['bc']],
  ['a(x|c)+|b', ['ax', 'b'], ['bc']],
  ['a((c)*)|b', ['a', 'ac', 'b'], ['bc']],
  ['(c(a)*)*', ['', 'c', 'caca'], ['a']],
  ['(c(a)+)*b', ['b', 'cab'], ['ab']],
  ['[0-9]{10}|[0-9]{11}', ['0123456789', '01234567890'], ['012345678', '012345678901']],
  ['a{2}|a', ['a', 'aa'], ['', 'aaa']],
  ['Mr|Mrs|Ms|[A-Z]{3}', ['Mr', 'Mrs', 'ABC'], ['M', 'AB']],
  ['(a{2})?a', ['a', 'aaa'], ['aa']],
  ['[\\w\\-\\.]+@([\\w\\-]+\\.)+[\\w\\-]{2,4}', ['a.b@c.d.com'], ['a@b', 'a@b.c']],
  ['.{2}1{1,3}|.{1,3}c*', ['ab1', 'abc'], ['abb1', 'abb111']],
]

for (const [pattern, valid, invalid] of COMPLETED) {
  test(`${pattern} is matched correctly`, () => {
    const { text } = checkPattern(pattern)
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

/** More transitions than the analysis follows. */
const LARGE = `(${'a?'.repeat(340)})*`

test('a pattern that is too large to check is refused if libxml2 may misread it', () => {
  assert.equal(checkPattern(LARGE).mayBacktrack, true)
  for (const pattern of ['([^b]x|ab)', 'z(a|ab){2}', '(\\d1|\\w2)'])
    assert.throws(() => checkPattern(LARGE + pattern), /too large to check/, pattern)
  assert.throws(() => checkPattern('[a-z]'.repeat(30_000)), RefusedPattern)
})

const COMMON = [
  '[^@]+@[^\\.]+\\..+',
  '\\S+@\\S+',
  '[A-Z]{2}|[0-9]{3}',
  '[\\S]+',
  '\\S(.*\\S)?',
  '[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}',
  '(\\+\\d{1,3} )?[0-9]{5,15}',
  '[^<>&]*',
]

for (const pattern of COMMON) {
  test(`${pattern} is accepted`, () => assert.equal(checkPattern(pattern).text, pattern))
}

const BRACES: readonly (readonly [pattern: string, value: string])[] = [
  ['\\{[A-F0-9]{8}}', '{0123ABCD}'],
  ['a}', 'a}'],
  ['{a}', '{a}'],
  ['a*{', 'aa{'],
  ['{2}', '{2}'],
  ['a?{2}', 'a{2}'],
  ['}{2}', '}}'],
  ['a{0000000000003}', 'aaa'],
]

for (const [pattern, value] of BRACES) {
  test(`${pattern} accepts ${value}`, () => {
    assert.equal(isAccepted(pattern, value), true)
    const { text } = checkPattern(`${pattern}(x*)*y`)
    assert.equal(isAccepted(text, `${value}xxy`), true, text)
    assert.equal(
      isAccepted(text, `${value.slice(1)}xxy`),
      pattern.startsWith('a*') || pattern.startsWith('a?'),
      text,
    )
  })
}

const UNREADABLE = [
  '[a',
  '[',
  'a\\',
  '\\p{L',
  'a{',
  'a{x}',
  '{{',
  '({2}',
  'a{,2}',
  'a{3,2}',
  'a{2147483648}',
  'a]',
  '[b-a]',
]

for (const pattern of UNREADABLE) {
  test(`${pattern} is not a pattern`, () => assert.throws(() => checkPattern(pattern), /has a syntax error/))
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
  '([^\\.\\-]|-)+\\.',
]

const AMBIGUOUS = [
  '(x+x+)+y',
  '(a|aa)+b',
  '(a*)*b',
  '.*a.*b',
  '([a-z]+-)*[a-z]+',
  '[a-z]{0,35}[a-z0-9]{0,35}',
  '[\\w\\-\\.]+@([\\w\\-]+\\.)+[\\w\\-]{2,4}',
  '(.?a.{20})*',
  '.*[0-9]{12}',
  '\\P{IsGreek}+',
]

for (const [patterns, isAmbiguous] of [
  [STEADY, false],
  [AMBIGUOUS, true],
] as const) {
  for (const pattern of patterns) {
    test(`${pattern} ${isAmbiguous ? 'may backtrack' : 'has few match paths'}`, () => {
      assert.equal(checkPattern(pattern).mayBacktrack, isAmbiguous)
    })
  }
}

/** Valid and invalid values for patterns with characters that libxml2 does not know. */
const RANGES: readonly (readonly [pattern: string, valid: readonly string[], invalid: readonly string[]])[] =
  [
    ['\\p{L}+', ['Şahin', '中文', '한글', 'ẞ'], ['1', 'a1', '€']],
    ['\\P{L}+', ['1', '€'], ['a', '中', '한']],
    ['[\\p{L}.]+', ['中.'], ['1']],
    ['[^\\p{L}.]+', ['1'], ['.', '中', 'a']],
    ['\\p{Lu}', ['A', 'ẞ'], ['a', '中']],
    ['\\p{Sc}', ['$', '€', '₺', '₹'], ['a']],
  ]

for (const [pattern, valid, invalid] of RANGES) {
  test(`${pattern} means what the specification says`, () => {
    const { text } = checkPattern(pattern)
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

test('accepted classes have the expected characters', () => {
  fc.assert(
    fc.property(classes, (pattern) => {
      const checked = checkedOrNull(pattern)
      const translated = translatePattern(pattern, false)
      if (checked === null || 'issue' in translated) return
      const meant = new RegExp(`^(?:${translated.source})$`, 'v')
      const accepted = acceptedBy(checked, LETTERS)
      if (accepted === null) return
      for (const [i, letter] of LETTERS.entries())
        assert.equal(accepted[i], meant.test(letter), `${JSON.stringify(letter)} ${pattern}`)
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

test('accepted patterns mean the same in another engine', () => {
  fc.assert(
    fc.property(patterns, fc.array(values, { minLength: 5, maxLength: 10 }), ([pattern, meaning], texts) => {
      const text = checkedOrNull(pattern)
      if (text === null) return
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
    { numRuns: 500 },
  )
})

test('patterns with few match paths are fast', () => {
  const words = fc.array(fc.constantFrom('a', 'b', '.', '1', ' ', '-'), { minLength: 1, maxLength: 3 })
  const ends = fc.constantFrom('', '\n', '!', '-', 'b')
  fc.assert(
    fc.property(patterns, words, ends, ([pattern], word, end) => {
      const text = checkedOrNull(pattern)
      if (text === null || checkPattern(pattern).mayBacktrack) return
      const beforeMs = cpuMs()
      assert.notEqual(isAccepted(text, word.join('').repeat(3000) + end), null, text)
      assert.ok(cpuMs() - beforeMs < 10_000, text)
    }),
    { numRuns: 150 },
  )
})

/** Returns the pattern for libxml2, or null if it is refused. */
function checkedOrNull(pattern: string): string | null {
  try {
    return checkPattern(pattern).text
  } catch (problem) {
    assert.ok(problem instanceof RefusedPattern)
    return null
  }
}
