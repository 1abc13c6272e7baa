import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../testing.js'
import { readYaml } from './yaml-source.js'

// YAML is read from whoever may deploy a document.

const LONGEST_MS = 20_000

function read(text: string): ReturnType<typeof readYaml> {
  const beforeMs = cpuMs()
  const source = readYaml(text)
  assert.ok(cpuMs() - beforeMs < LONGEST_MS, text.slice(0, 40))
  return source
}

test('no tag runs code, or makes anything but plain data', () => {
  for (const text of [
    'a: !!js/function "function () { return process.env }"',
    'a: !!js/undefined ""',
    'a: !!js/regexp /a/',
    'a: !!python/object/apply:os.system ["id"]',
    'a: !<tag:yaml.org,2002:js/function> "x"',
    'a: !ruby/object:Gem::Requirement {}',
    '%TAG ! tag:example.com,2030:\n---\na: !x 1',
    'a: !!set {a}',
    'a: !include /etc/passwd',
    'a: !env PATH',
  ]) {
    const { value } = read(text)
    const printed = JSON.stringify(value)
    assert.deepEqual(value, printed === undefined ? value : JSON.parse(printed), text)
    assert.doesNotMatch(printed ?? '', /root:|\/bin/)
  }
})

test('no key changes what objects have', () => {
  for (const text of [
    '__proto__: { polluted: 1 }',
    'a: { __proto__: { polluted: 1 } }',
    'constructor: { prototype: { polluted: 1 } }',
    '<<: { __proto__: { polluted: 1 } }',
    'a: &x { polluted: 1 }\nb: { <<: *x, __proto__: *x }',
    '{"__proto__":{"polluted":1}}',
    '? [__proto__]\n: 1',
  ]) {
    read(text)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined, text)
  }
})

test('aliases that stand for more than the document is are refused or small', () => {
  const levels = (width: number, depth: number): string => {
    const lines = ['a0: &a0 [x]']
    for (let i = 1; i <= depth; i++)
      lines.push(`a${i}: &a${i} [${Array.from({ length: width }, () => `*a${i - 1}`).join()}]`)
    return lines.join('\n')
  }
  const merges = (width: number, depth: number): string => {
    const lines = ['a0: &a0 { k: [x, x, x] }']
    for (let i = 1; i <= depth; i++) {
      const sources = Array.from({ length: width }, () => `*a${i - 1}`).join()
      lines.push(`a${i}: &a${i}\n  <<: [${sources}]\n  k${i}: { <<: [${sources}] }`)
    }
    return lines.join('\n')
  }
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join()
  for (const text of [
    merges(2, 40),
    merges(100, 10),
    `a: &a { ${keys} }\nb: { <<: [${'*a,'.repeat(20_000)}] }`,
    `a: &a { ${keys} }\nb: [${'{ <<: *a },'.repeat(20_000)}]`,
    `a: &a [{ ${keys} }]\nb: [${'{ <<: *a },'.repeat(20_000)}]`,
    'a: &a { b: { <<: *a } }',
    'a: &a [{ <<: *a }]',
    levels(9, 9),
    levels(100, 3),
    levels(2, 30),
    'a: &a [*a]',
    'a: &a { b: *a }',
    'a: &a\n  <<: *a\n',
    `a: &a x\nb: [${'*a,'.repeat(5_000)}]`,
  ]) {
    const { value, issues } = read(text)
    if (issues.length === 0) assert.ok(JSON.stringify(value).length < 8 * 1024 * 1024)
  }
})

test('no text is too deep, too long or too odd to be read in time', () => {
  for (const text of [
    '['.repeat(200_000),
    `${'{a: '.repeat(10_000)}1`,
    Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    '- '.repeat(100_000),
    '? '.repeat(50_000),
    '!'.repeat(100_000),
    '&a '.repeat(50_000),
    `"${'\\x41'.repeat(200_000)}"`,
    `a: |\n${'  x\n'.repeat(100_000)}`,
    '#'.repeat(1_000_000),
    '---\n'.repeat(50_000),
    '\ufeff\0\u0085\u2028',
    'a: "',
    `${'k: v\n'.repeat(20_000)}`,
    'x'.repeat(5_000_000),
  ])
    read(text)
})
